package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Reads tiles from a folder with the paths of C2SP tlog-tiles. Go's own name the height as well.
type folder string

func path(tile tlog.Tile) string { return strings.Replace(tile.Path(), "tile/8/", "tile/", 1) }

func (f folder) Height() int                      { return 8 }
func (f folder) SaveTiles([]tlog.Tile, [][]byte)  {}
func (f folder) read(name string) ([]byte, error) { return os.ReadFile(filepath.Join(string(f), name)) }
func (f folder) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	found := make([][]byte, len(tiles))
	for i, tile := range tiles {
		bytes, err := f.read(path(tile))
		if err != nil {
			return nil, err
		}
		found[i] = bytes
	}
	return found, nil
}

// The leaves of the bundle beside a tile of level 0.
func (f folder) entries(tile tlog.Tile) ([][]byte, error) {
	bytes, err := f.read(strings.Replace(path(tile), "tile/0/", "tile/entries/", 1))
	found := [][]byte{}
	for err == nil && len(bytes) > 0 {
		if len(bytes) < 2 || len(bytes) < 2+int(binary.BigEndian.Uint16(bytes)) {
			return nil, errors.New("a bundle that is cut off")
		}
		end := 2 + int(binary.BigEndian.Uint16(bytes))
		found = append(found, bytes[2:end])
		bytes = bytes[end:]
	}
	return found, err
}

// Whether every tile that a tree of the size has stands in the folder, verifies under the root, and has the entries beside it.
func (o *oracle) tiles(q question) (answer, error) {
	tree, err := treeOf(q)
	if err != nil {
		return answer{Why: err.Error()}, nil
	}
	reader := tlog.TileHashReader(tree, folder(q.Folder))
	count := 0
	for _, tile := range tlog.NewTiles(8, 0, tree.N) {
		count++
		if _, err := folder(q.Folder).read(path(tile)); err != nil {
			return answer{Why: err.Error()}, nil
		}
		if tile.L != 0 {
			continue
		}
		entries, err := folder(q.Folder).entries(tile)
		if err != nil || len(entries) != tile.W {
			return answer{Why: fmt.Sprintf("%d entries beside %s: %v", len(entries), path(tile), err)}, nil
		}
		indexes := []int64{}
		for i := range entries {
			indexes = append(indexes, tlog.StoredHashIndex(0, tile.N<<8+int64(i)))
		}
		hashes, err := reader.ReadHashes(indexes)
		if err != nil {
			return answer{Why: err.Error()}, nil
		}
		for i, entry := range entries {
			if tlog.RecordHash(entry) != hashes[i] {
				return answer{Why: fmt.Sprintf("entry %d of %s is another", i, path(tile))}, nil
			}
		}
	}
	root, err := tlog.TreeHash(tree.N, reader)
	if err != nil {
		return answer{Why: err.Error()}, nil
	}
	if len(q.Account) > 0 {
		return answer{Verifies: root == tree.Hash, Same: bytes.Equal(q.Root, root[:]), Read: fmt.Sprint(count)}, nil
	}
	own, err := tlog.TreeHash(tree.N, o)
	return answer{Verifies: root == tree.Hash, Same: own == tree.Hash, Read: fmt.Sprint(count)}, err
}
