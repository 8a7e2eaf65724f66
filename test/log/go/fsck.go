package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"

	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"k8s.io/klog/v2"
)

const fsckOrigin = "root.of.the.ledger.example"

// A folder of tiles, with a checkpoint in place of the log's own.
type checked struct {
	client.FileFetcher
	checkpoint []byte
}

func (c checked) ReadCheckpoint(context.Context) ([]byte, error) { return c.checkpoint, nil }

func bundleHashes(bundle []byte) ([][]byte, error) {
	entries := &api.EntryBundle{}
	if err := entries.UnmarshalText(bundle); err != nil {
		return nil, err
	}
	hashes := [][]byte{}
	for _, entry := range entries.Entries {
		hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(entry))
	}
	return hashes, nil
}

// The tree that a question is about: that of an account where it has one, else the one whose size and root it names.
func treeOf(q question) (tlog.Tree, error) {
	if len(q.Account) == 0 {
		return tlog.Tree{N: q.Size, Hash: q.Root.tree()}, nil
	}
	read, err := readAccount(q.Account)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := read.root()
	return tlog.Tree{N: read.size, Hash: root}, err
}

// Tessera's fsck over a folder of tiles, against a checkpoint of the tree's root that a key of the moment signs: fsck takes no root
// without a signature, and the log's own would say nothing of the ledger's.
func checkFolder(q question) (answer, error) {
	tree, err := treeOf(q)
	if err != nil {
		return answer{Why: err.Error()}, nil
	}
	secret, public, err := note.GenerateKey(rand.Reader, fsckOrigin)
	if err != nil {
		return answer{}, err
	}
	signer, err := note.NewSigner(secret)
	if err != nil {
		return answer{}, err
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return answer{}, err
	}
	text := fmt.Sprintf("%s\n%d\n%s\n", fsckOrigin, tree.N, tree.Hash)
	signed, err := note.Sign(&note.Note{Text: text}, signer)
	if err != nil {
		return answer{}, err
	}
	files := checked{client.FileFetcher{Root: q.Folder}, signed}
	wrong := fsck.New(fsckOrigin, verifier, files, bundleHashes, fsck.Opts{N: 1}).Check(context.Background())
	return answer{Verifies: wrong == nil, Read: fmt.Sprint(tree.N), Why: said(wrong)}, nil
}

// fsck tells its progress on standard error, where only faults are wanted.
func init() {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
}
