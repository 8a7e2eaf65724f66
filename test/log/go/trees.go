package main

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// The width of C2SP's tiles as a power of two. Go's paths name it, C2SP's do not.
const tileHeight = 8

// stored holds the hashes of perfect subtrees in the order of tlog.StoredHashIndex.
type stored []tlog.Hash

func (hashes stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	read := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		read[i] = hashes[index]
	}
	return read, nil
}

var (
	held stored
	size int64
)

// leafOf makes the leaves of the tests: 66 bytes of the seed, behind the index as u32 BE.
func leafOf(index int64, seed byte) []byte {
	leaf := make([]byte, 66)
	for i := range leaf {
		leaf[i] = seed
	}
	binary.BigEndian.PutUint32(leaf, uint32(index))
	return leaf
}

func grow(asked question) (answer, error) {
	for end := size + asked.Count; size < end; size++ {
		hashes, err := tlog.StoredHashes(size, leafOf(size, asked.Seed), held)
		if err != nil {
			return answer{}, err
		}
		held = append(held, hashes...)
	}
	root, err := tlog.TreeHash(size, held)
	return answer{Root: &root}, err
}

// roots are those of the sizes from Old to Size, both included.
func roots(asked question) (answer, error) {
	var found []tlog.Hash
	for n := asked.Old; n <= asked.Size; n++ {
		root, err := tlog.TreeHash(n, held)
		if err != nil {
			return answer{}, err
		}
		found = append(found, root)
	}
	return answer{Roots: found}, nil
}

// inclusion proves a leaf, and says whether the asker's proof of it verifies.
func inclusion(asked question) (answer, error) {
	root, err := tlog.TreeHash(asked.Size, held)
	if err != nil {
		return answer{}, err
	}
	leaf := held[tlog.StoredHashIndex(0, asked.Index)]
	proof, err := tlog.ProveRecord(asked.Size, asked.Index, held)
	if err != nil {
		return answer{}, err
	}
	verifies := tlog.CheckRecord(asked.Proof, asked.Size, root, asked.Index, leaf) == nil
	return answer{Verifies: verifies, Proof: proof}, nil
}

// consistency proves an older tree, and says whether the asker's proof of it verifies.
func consistency(asked question) (answer, error) {
	old, err := tlog.TreeHash(asked.Old, held)
	if err != nil {
		return answer{}, err
	}
	root, err := tlog.TreeHash(asked.Size, held)
	if err != nil {
		return answer{}, err
	}
	proof, err := tlog.ProveTree(asked.Size, asked.Old, held)
	if err != nil {
		return answer{}, err
	}
	verifies := tlog.CheckTree(asked.Proof, asked.Size, root, asked.Old, old) == nil
	return answer{Verifies: verifies, Proof: proof}, nil
}

// c2spPath turns tile/8/<L>/<N> into tile/<L>/<N>.
func c2spPath(t tlog.Tile) string {
	return "tile/" + strings.TrimPrefix(t.Path(), "tile/8/")
}

// tiles are those that a log writes when it grows from Old to Size.
func tiles(asked question) (answer, error) {
	var found []tile
	for _, t := range tlog.NewTiles(tileHeight, asked.Old, asked.Size) {
		data, err := tlog.ReadTileData(t, held)
		if err != nil {
			return answer{}, err
		}
		digest := sha256.Sum256(data)
		found = append(found, tile{c2spPath(t), hex.EncodeToString(digest[:])})
	}
	return answer{Tiles: found}, nil
}

// files reads the tiles of a folder. tlog checks them against the tree's root.
type files string

func (folder files) Height() int { return tileHeight }

func (folder files) SaveTiles([]tlog.Tile, [][]byte) {}

func (folder files) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	read := make([][]byte, len(wanted))
	for i, t := range wanted {
		data, err := os.ReadFile(filepath.Join(string(folder), c2spPath(t)))
		if err != nil {
			return nil, err
		}
		read[i] = data
	}
	return read, nil
}

// fromTiles reads a leaf's proof, and with Old the proof of an older tree, from a folder of tiles.
func fromTiles(asked question) (answer, error) {
	reader := tlog.TileHashReader(tlog.Tree{N: asked.Size, Hash: asked.Root}, files(asked.Folder))
	if asked.Old > 0 {
		proof, err := tlog.ProveTree(asked.Size, asked.Old, reader)
		return answer{Proof: proof}, err
	}
	proof, err := tlog.ProveRecord(asked.Size, asked.Index, reader)
	return answer{Proof: proof}, err
}
