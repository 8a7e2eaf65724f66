package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// A hash in base64. Another length stays what it is not: a case with it is refused.
type hash []byte

func (h *hash) UnmarshalJSON(text []byte) error {
	var s string
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	bytes, err := base64.StdEncoding.DecodeString(s)
	*h = bytes
	return err
}

func (h hash) tree() (found tlog.Hash) {
	copy(found[:], h)
	return found
}

func treeHashes(hashes []hash) []tlog.Hash {
	all := []tlog.Hash{}
	for _, each := range hashes {
		all = append(all, each.tree())
	}
	return all
}

// The hashes of Go's own tree over the leaves that leafAt makes, and its tree of a ledger's events.
type oracle struct {
	size   int64
	hashes []tlog.Hash
	ledger edge
}

func (o *oracle) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	found := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		if index >= int64(len(o.hashes)) {
			return nil, fmt.Errorf("no hash %d", index)
		}
		found[i] = o.hashes[index]
	}
	return found, nil
}

// The leaf that test/log/run.ts makes of the same number.
func leafAt(i int64) []byte {
	escrow := sha256.Sum256([]byte(fmt.Sprintf("escrow %d", i)))
	account := sha256.Sum256([]byte(fmt.Sprintf("account %d", i)))
	leaf := append([]byte{1, byte(i % 4)}, escrow[:]...)
	return append(leaf, account[:]...)
}

func (o *oracle) grow(q question) (answer, error) {
	for ; o.size < q.Leaves; o.size++ {
		more, err := tlog.StoredHashes(o.size, leafAt(o.size), o)
		if err != nil {
			return answer{}, err
		}
		o.hashes = append(o.hashes, more...)
	}
	root, err := tlog.TreeHash(o.size, o)
	return answer{Verifies: true, Same: root == q.Root.tree(), Read: root.String()}, err
}

func same(ours []hash, theirs []tlog.Hash) bool {
	if len(ours) != len(theirs) {
		return false
	}
	for i, each := range theirs {
		if each != ours[i].tree() {
			return false
		}
	}
	return true
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func (o *oracle) inclusion(q question) (answer, error) {
	theirs, err := tlog.ProveRecord(q.Size, q.Index, o)
	if err != nil {
		return answer{}, err
	}
	wrong := tlog.CheckRecord(treeHashes(q.Proof), q.Size, q.Root.tree(), q.Index, q.Leaf.tree())
	return answer{Verifies: wrong == nil, Same: same(q.Proof, theirs), Why: said(wrong)}, nil
}

func (o *oracle) consistency(q question) (answer, error) {
	theirs, err := tlog.ProveTree(q.Size, q.Old, o)
	if err != nil {
		return answer{}, err
	}
	wrong := tlog.CheckTree(treeHashes(q.Proof), q.Size, q.Root.tree(), q.Old, q.OldRoot.tree())
	return answer{Verifies: wrong == nil, Same: same(q.Proof, theirs), Why: said(wrong)}, nil
}
