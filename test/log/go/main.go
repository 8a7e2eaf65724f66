// An oracle for core/log: Go's own packages for transparency logs judge what it makes. Reads one case a line as JSON, answers each in a line.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"golang.org/x/mod/sumdb/tlog"
)

type question struct {
	Kind    string   `json:"kind"`
	Leaves  int64    `json:"leaves"`
	Size    int64    `json:"size"`
	Index   int64    `json:"index"`
	Old     int64    `json:"old"`
	Root    hash     `json:"root"`
	OldRoot hash     `json:"oldRoot"`
	Leaf    hash     `json:"leaf"`
	Proof   []hash   `json:"proof"`
	Note    string   `json:"note"`
	Keys    []string `json:"keys"`
	Folder  string   `json:"folder"`
	Account hash     `json:"account"`
	Before  hash     `json:"before"`
	Entries []hash   `json:"entries"`
}

// What Go says: whether it verifies, whether it is what Go itself makes, and what it read.
type answer struct {
	Verifies bool     `json:"verifies"`
	Same     bool     `json:"same"`
	Read     string   `json:"read"`
	Names    []string `json:"names"`
	Why      string   `json:"why"`
}

func (o *oracle) answer(q question) (answer, error) {
	switch q.Kind {
	case "grow":
		return o.grow(q)
	case "inclusion":
		return o.inclusion(q)
	case "consistency":
		return o.consistency(q)
	case "note":
		return readNote(q)
	case "tiles":
		return o.tiles(q)
	case "account":
		return o.account(q)
	case "fsck":
		return checkFolder(q)
	}
	return answer{}, fmt.Errorf("no such kind: %q", q.Kind)
}

func main() {
	log.SetFlags(0)
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(out)
	o := &oracle{ledger: edge{0, map[int64]tlog.Hash{}}}
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 && err != nil {
			return
		}
		var q question
		if err := json.Unmarshal(line, &q); err != nil {
			log.Fatal(err)
		}
		said, err := o.answer(q)
		if err != nil {
			log.Fatal(err)
		}
		if err := encoder.Encode(said); err != nil {
			log.Fatal(err)
		}
		if lines.Buffered() == 0 {
			out.Flush()
		}
	}
}
