// Reads operations, one line of JSON each, and says of each object whether its history is linearizable.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	Model  string `json:"model"`
	Object string `json:"object"`
	Client int    `json:"client"`
	Call   int64  `json:"call"`
	Return *int64 `json:"return"`
	Input  string `json:"input"`
	Output string `json:"output"`
}

// A model whose state, inputs and outputs are texts, and whose operations may leave any of several states. An empty
// output is that of an operation of which nobody knows whether it took effect: it leaves the state as it is as well.
func model(initial string, step func(state, input, output string) []string) porcupine.Model {
	nondeterministic := porcupine.NondeterministicModel{
		Init: func() []interface{} { return []interface{}{initial} },
		Step: func(state, input, output interface{}) []interface{} {
			var next []interface{}
			for _, each := range step(state.(string), input.(string), output.(string)) {
				next = append(next, each)
			}
			if output.(string) == "" {
				next = append(next, state)
			}
			return next
		},
	}
	return nondeterministic.ToModel()
}

var models = map[string]porcupine.Model{
	// A relay is absent, sent, and at some time of its own landed or expired, for good.
	"relay": model("absent", func(state, input, output string) []string {
		if input == "submit" {
			if output == "refused" {
				return []string{state}
			}
			if state == "absent" {
				return []string{"pending"}
			}
			return []string{state}
		}
		if output == state || (state == "pending" && output != "absent") {
			return []string{output}
		}
		return nil
	}),
	// A key belongs to the first transaction that is sent under it. Until then any may hold it for a while.
	"key": model("free", func(state, input, output string) []string {
		switch output {
		case "ok", "":
			if state == "free" || state == input {
				return []string{input}
			}
		case "reused":
			// Another one holds it, or held it at this moment and has let it go since.
			if state != input {
				return []string{state}
			}
		case "in_flight":
			return []string{state}
		}
		return nil
	}),
	// A lease: "TERM HOLDER". A term begins once, has one holder, and only what is written in the present one counts.
	"lease": model("0 nobody", func(state, input, output string) []string {
		term, holder, _ := strings.Cut(state, " ")
		action, who, _ := strings.Cut(input, " ")
		if action == "write" {
			if (output == "ok") == (term == who) {
				return []string{state}
			}
			return nil
		}
		number, _ := strconv.Atoi(term)
		next := strconv.Itoa(number+1) + " " + who
		switch output {
		case "":
			return []string{next}
		case "none":
			if holder != who {
				return []string{state}
			}
		case term:
			if holder == who {
				return []string{state}
			}
		case strconv.Itoa(number + 1):
			return []string{next}
		}
		return nil
	}),
}

func main() {
	histories := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() {
		var read operation
		if err := json.Unmarshal(lines.Bytes(), &read); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		end := int64(math.MaxInt64)
		if read.Return != nil {
			end = *read.Return
		}
		name := read.Model + " " + read.Object
		histories[name] = append(histories[name], porcupine.Operation{
			ClientId: read.Client, Input: read.Input, Call: read.Call, Output: read.Output, Return: end,
		})
	}
	counts := map[string]int{}
	failed := 0
	for name, history := range histories {
		kind, _, _ := strings.Cut(name, " ")
		counts[kind]++
		if result := porcupine.CheckOperationsTimeout(models[kind], history, 2*time.Minute); result != porcupine.Ok {
			failed++
			fmt.Printf("(fail) %s: %s\n", name, result)
			for _, each := range history {
				fmt.Printf("  %v\n", each)
			}
		}
	}
	for kind, count := range counts {
		fmt.Printf("%s: %d objects\n", kind, count)
	}
	if failed > 0 {
		os.Exit(1)
	}
}
