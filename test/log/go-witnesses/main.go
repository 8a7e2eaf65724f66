// What ordinary witnesses need to run beside a test: the core of omniwitness behind HTTP, and an ssh-agent that holds the key of
// litewitness, which takes no other. It ends with its standard input.
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"os"

	formats "github.com/transparency-dev/formats/note"
	"github.com/transparency-dev/witness/persistence/inmemory"
	"github.com/transparency-dev/witness/witness"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
	"golang.org/x/mod/sumdb/note"
)

const coreName = "omniwitness.example/w"

type ready struct {
	// The core's verifier key and address.
	Key string `json:"key"`
	URL string `json:"url"`
	// The fingerprint of the key that the agent holds.
	Fingerprint string `json:"fingerprint"`
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// Serves the core on a free port, for the logs of these verifier keys.
func serveCore(logs []string) (string, string) {
	verifiers := map[string]note.Verifier{}
	for _, vkey := range logs {
		verifier := must(note.NewVerifier(vkey))
		verifiers[verifier.Name()] = verifier
	}
	secret, public, err := note.GenerateKey(rand.Reader, coreName)
	if err != nil {
		log.Fatal(err)
	}
	core := must(witness.New(context.Background(), witness.Opts{
		Persistence: inmemory.New(),
		Signers:     []note.Signer{must(formats.NewSignerForCosignatureV1(secret))},
		VerifierForLog: func(_ context.Context, origin string) (note.Verifier, bool, error) {
			verifier, known := verifiers[origin]
			return verifier, known, nil
		},
	}))
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", witness.NewHTTPHandler(core).AddCheckpoint)
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	go func() { log.Fatal(http.Serve(listener, mux)) }()
	return must(formats.VKeyToCosignatureV1(public)), "http://" + listener.Addr().String()
}

// Serves an agent with a new key at a socket.
func serveAgent(socket string) string {
	_, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	keyring := agent.NewKeyring()
	if err := keyring.Add(agent.AddedKey{PrivateKey: secret}); err != nil {
		log.Fatal(err)
	}
	listener := must(net.Listen("unix", socket))
	go func() {
		for {
			connection := must(listener.Accept())
			go func() { _ = agent.ServeAgent(keyring, connection) }()
		}
	}()
	return ssh.FingerprintSHA256(must(ssh.NewPublicKey(secret.Public())))
}

func main() {
	log.SetFlags(0)
	key, url := serveCore(os.Args[2:])
	answer := ready{key, url, serveAgent(os.Args[1])}
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		log.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}
