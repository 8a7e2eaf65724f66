package main

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// x/mod knows keys of the type 0x01 only. Cosignatures (type 0x04) are a note.Verifier and note.Signer of their own here.
const cosignatureType = 0x04

type cosigner struct {
	name   string
	key    ed25519.PublicKey
	secret ed25519.PrivateKey
	time   uint64
}

func (c cosigner) Name() string { return c.name }

func (c cosigner) KeyHash() uint32 {
	hashed := append([]byte(c.name+"\n"), cosignatureType)
	digest := sha256.Sum256(append(hashed, c.key...))
	return binary.BigEndian.Uint32(digest[:4])
}

func cosigned(time uint64, text []byte) []byte {
	return append([]byte(fmt.Sprintf("cosignature/v1\ntime %d\n", time)), text...)
}

func (c cosigner) Sign(text []byte) ([]byte, error) {
	signature := ed25519.Sign(c.secret, cosigned(c.time, text))
	return append(binary.BigEndian.AppendUint64(nil, c.time), signature...), nil
}

func (c cosigner) Verify(text, signature []byte) bool {
	if len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	time := binary.BigEndian.Uint64(signature)
	return ed25519.Verify(c.key, cosigned(time, text), signature[8:])
}

func (c cosigner) vkey() string {
	material := append([]byte{cosignatureType}, c.key...)
	return fmt.Sprintf("%s+%08x+%s", c.name, c.KeyHash(), base64.StdEncoding.EncodeToString(material))
}

func verifierOf(vkey string) (note.Verifier, error) {
	parts := strings.SplitN(vkey, "+", 3)
	if len(parts) != 3 {
		return nil, errors.New("a key has three parts")
	}
	material, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(material) != 33 || material[0] != cosignatureType {
		return note.NewVerifier(vkey)
	}
	verifier := cosigner{name: parts[0], key: material[1:]}
	if fmt.Sprintf("%08x", verifier.KeyHash()) != parts[1] {
		return nil, errors.New("the id is another key's")
	}
	return verifier, nil
}

// open says which of the keys signed a note, and its text.
func open(asked question) (answer, error) {
	var verifiers []note.Verifier
	for _, vkey := range asked.Keys {
		verifier, err := verifierOf(vkey)
		if err != nil {
			return answer{}, err
		}
		verifiers = append(verifiers, verifier)
	}
	opened, err := note.Open([]byte(asked.Note), note.VerifierList(verifiers...))
	if err != nil {
		return answer{}, err
	}
	var names []string
	for _, signature := range opened.Sigs {
		names = append(names, signature.Name)
	}
	return answer{Verifies: true, Text: opened.Text, Names: names}, nil
}

// sign signs a text with the first secret under the name, then cosigns it with the others, at their times.
func sign(asked question) (answer, error) {
	secret := ed25519.NewKeyFromSeed(asked.Secrets[0])
	vkey, err := note.NewEd25519VerifierKey(asked.Name, secret.Public().(ed25519.PublicKey))
	if err != nil {
		return answer{}, err
	}
	prefix := strings.Join(strings.SplitN(vkey, "+", 3)[:2], "+")
	material := base64.StdEncoding.EncodeToString(append([]byte{0x01}, asked.Secrets[0]...))
	log, err := note.NewSigner("PRIVATE+KEY+" + prefix + "+" + material)
	if err != nil {
		return answer{}, err
	}
	signers, keys := []note.Signer{log}, []string{vkey}
	for i, seed := range asked.Secrets[1:] {
		secret := ed25519.NewKeyFromSeed(seed)
		name := fmt.Sprintf("witness%d.example", i)
		witness := cosigner{name, secret.Public().(ed25519.PublicKey), secret, asked.Times[i]}
		signers, keys = append(signers, witness), append(keys, witness.vkey())
	}
	signed, err := note.Sign(&note.Note{Text: asked.Text}, signers...)
	return answer{Note: string(signed), Keys: keys}, err
}
