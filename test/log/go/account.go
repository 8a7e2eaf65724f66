package main

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Where the custody program's configuration account keeps its log, and how many levels it has room for: docs/protocol.md, "custody".
const (
	countAt    = 80
	frontierAt = 88
	levels     = 40
)

// The hashes of a tree of which only the right edge is known, by Go's own numbers for them.
type edge struct {
	size   int64
	hashes map[int64]tlog.Hash
}

func (e edge) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hash, known := e.hashes[index]
		if !known {
			return nil, fmt.Errorf("no hash %d in an edge of %d leaves", index, e.size)
		}
		found[i] = hash
	}
	return found, nil
}

// The edge that an account keeps.
func readAccount(account []byte) (edge, error) {
	if len(account) != frontierAt+levels*tlog.HashSize {
		return edge{}, fmt.Errorf("an account of %d bytes", len(account))
	}
	size := int64(binary.LittleEndian.Uint64(account[countAt:]))
	if size < 0 || size >= 1<<levels {
		return edge{}, fmt.Errorf("a tree of %d leaves", size)
	}
	e := edge{size, map[int64]tlog.Hash{}}
	for level := 0; level < levels; level++ {
		if size>>level&1 == 0 {
			continue
		}
		var node tlog.Hash
		copy(node[:], account[frontierAt+level*tlog.HashSize:])
		e.hashes[tlog.StoredHashIndex(level, size>>level-1)] = node
	}
	return e, nil
}

// Appends a leaf as Go does.
func (e edge) append(entry []byte) (edge, error) {
	hashes, err := tlog.StoredHashes(e.size, entry, e)
	if err != nil {
		return e, err
	}
	first := tlog.StoredHashIndex(0, e.size)
	for i, hash := range hashes {
		e.hashes[first+int64(i)] = hash
	}
	e.size++
	return e, nil
}

func (e edge) root() (tlog.Hash, error) { return tlog.TreeHash(e.size, e) }

// Whether an account's fold is the root of Go's own tree of the entries, and the root that was asked about. With an account before
// it, Go appends the entries to that one's edge; without one it grows a tree of its own from the first entry on.
func (o *oracle) account(q question) (answer, error) {
	read, err := readAccount(q.Account)
	if err != nil {
		return answer{Why: err.Error()}, nil
	}
	folded, err := read.root()
	if err != nil {
		return answer{}, err
	}
	own := o.ledger
	if len(q.Before) > 0 {
		if own, err = readAccount(q.Before); err != nil {
			return answer{Why: err.Error()}, nil
		}
	}
	for _, entry := range q.Entries {
		if own, err = own.append(entry); err != nil {
			return answer{}, err
		}
	}
	if len(q.Before) == 0 {
		o.ledger = own
	}
	root, err := own.root()
	return answer{
		Verifies: own.size == read.size && root == folded,
		Same:     bytes.Equal(q.Root, folded[:]),
		Read:     fmt.Sprint(read.size),
	}, err
}
