package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// A witness' key, which package note does not know: type 0x04 of C2SP signed-note.
type cosigner struct {
	name string
	id   uint32
	key  ed25519.PublicKey
}

func (c cosigner) Name() string    { return c.name }
func (c cosigner) KeyHash() uint32 { return c.id }

// C2SP tlog-cosignature, "Ed25519 signed message".
func (c cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	time := binary.BigEndian.Uint64(signature)
	message := fmt.Sprintf("cosignature/v1\ntime %d\n%s", time, text)
	return time > 0 && time < 1<<63 && ed25519.Verify(c.key, []byte(message), signature[8:])
}

func newVerifier(vkey string) (note.Verifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("a malformed vkey")
	}
	key, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(key) != 33 || key[0] != 4 {
		return note.NewVerifier(vkey)
	}
	sum := sha256.Sum256(append([]byte(parts[0]+"\n"), key...))
	id, err := hex.DecodeString(parts[1])
	if err != nil || string(id) != string(sum[:4]) {
		return nil, errors.New("another id than the key's")
	}
	return cosigner{parts[0], binary.BigEndian.Uint32(sum[:]), key[1:]}, nil
}

func readNote(q question) (answer, error) {
	verifiers := []note.Verifier{}
	for _, vkey := range q.Keys {
		verifier, err := newVerifier(vkey)
		if err != nil {
			return answer{}, err
		}
		verifiers = append(verifiers, verifier)
	}
	read, err := note.Open([]byte(q.Note), note.VerifierList(verifiers...))
	if err != nil {
		return answer{Why: err.Error()}, nil
	}
	names := []string{}
	for _, each := range read.Sigs {
		names = append(names, each.Name)
	}
	return answer{Verifies: true, Read: read.Text, Names: names}, nil
}
