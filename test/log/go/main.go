// Answers questions about trees, tiles and signed notes with golang.org/x/mod's sumdb/tlog and sumdb/note.
// A question is a JSON object on a line of standard input, its answer one on standard output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"golang.org/x/mod/sumdb/tlog"
)

type question struct {
	Op string
	// Of trees. The tree grows by Count leaves, which Seed makes.
	Seed  byte
	Count int64
	Index int64
	Old   int64
	Size  int64
	Root  tlog.Hash
	Proof []tlog.Hash
	// The folder of a log's tiles.
	Folder string
	// Of notes.
	Note    string
	Name    string
	Text    string
	Keys    []string
	Secrets [][]byte
	Times   []uint64
}

type tile struct {
	Path   string `json:"path"`
	Sha256 string `json:"sha256"`
}

type answer struct {
	Fault    string      `json:"fault,omitempty"`
	Verifies bool        `json:"verifies"`
	Root     *tlog.Hash  `json:"root,omitempty"`
	Roots    []tlog.Hash `json:"roots,omitempty"`
	Proof    []tlog.Hash `json:"proof,omitempty"`
	Tiles    []tile      `json:"tiles,omitempty"`
	Note     string      `json:"note,omitempty"`
	Text     string      `json:"text,omitempty"`
	Names    []string    `json:"names,omitempty"`
	Keys     []string    `json:"keys,omitempty"`
}

var operations = map[string]func(question) (answer, error){
	"grow":        grow,
	"roots":       roots,
	"inclusion":   inclusion,
	"consistency": consistency,
	"tiles":       tiles,
	"from-tiles":  fromTiles,
	"open":        open,
	"sign":        sign,
}

func reply(line []byte) answer {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Fault: err.Error()}
	}
	operation, known := operations[asked.Op]
	if !known {
		return answer{Fault: fmt.Sprintf("no operation %q", asked.Op)}
	}
	answered, err := operation(asked)
	if err != nil {
		answered.Fault = err.Error()
	}
	return answered
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	encoder := json.NewEncoder(out)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		if err := encoder.Encode(reply(line)); err != nil {
			panic(err)
		}
		// The asker waits for the answer when it has written nothing more.
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				panic(err)
			}
		}
	}
}
