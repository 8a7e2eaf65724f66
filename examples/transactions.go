// What agent.go and merchant.go share: their variables, the service, reading a prepared transaction, relaying it.
package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/blocto/solana-go-sdk/common"
	"github.com/blocto/solana-go-sdk/types"
)

const budget = "ComputeBudget111111111111111111111111111111"
const helpers = " Ed25519SigVerify111111111111111111111111111 ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"

type call struct {
	accounts []string
	data     []byte
}

type answer struct {
	Data      map[string]any
	Signature map[string]string
}

func answered(reply *http.Response, err error) (is answer) {
	if err != nil || json.NewDecoder(reply.Body).Decode(&is) != nil || is.Data == nil {
		panic(fmt.Sprint(reply, err))
	}
	return is
}

// A variable of the environment. Without it the process ends with 64 and a line that names it.
func env(name string) string {
	value := os.Getenv(name)
	if value == "" {
		fmt.Fprintln(os.Stderr, name+" is missing. Set it as examples/README.md says.")
		os.Exit(64)
	}
	return value
}

func get(path string) answer { return answered(http.Get(env("SERVICE") + path)) }

func post(path, body string) answer {
	return answered(http.Post(env("SERVICE")+path, "application/json", strings.NewReader(body)))
}

func bytesOf(base64Text string) []byte {
	decoded, _ := base64.StdEncoding.DecodeString(base64Text)
	return decoded
}

func key(variable string) ed25519.PrivateKey {
	seed, _ := hex.DecodeString(env(variable))
	return ed25519.NewKeyFromSeed(seed)
}

func sha(parts ...[]byte) []byte {
	hash := sha256.Sum256(bytes.Join(parts, nil))
	return hash[:]
}

// What an attestor signs for all of a Pending escrow, its one delivery, without the time; the account's bytes must be
// the escrow's.
func wholeClaim(account, proof []byte) []byte {
	address := func(name string) []byte { return common.PublicKeyFromString(env(name)).Bytes() }
	custody, end := address("CUSTODY"), []byte("ProgramDerivedAddress")
	made := sha([]byte("escrow"), account[16:48], account[144:176], account[9:10], custody, end)
	if !bytes.Equal(made, address("ESCROW")) || account[10] != 0 {
		panic("the account of another escrow, or settled already")
	}
	domain := sha([]byte("settlement-evidence 3\x00"), address("GENESIS"), custody)
	last := []byte{1, 0, 0, 0, 1, 0, 0, 0}
	return bytes.Join([][]byte{[]byte("attest 3"), domain, sha(account), proof, account[176:184], last}, nil)
}

// The first eight bytes of an instruction's data.
func named(instruction string) string { return string(sha([]byte("global:" + instruction))[:8]) }

// A number, little-endian.
func little(number uint64, length int) string {
	return string(append(binary.LittleEndian.AppendUint64(nil, number), make([]byte, 24)...)[:length])
}

// Whether the calls are this one on the escrow, and behind it only what brings the agent's rest and the rent home.
func settles(calls []call, instruction string) bool {
	for i, each := range calls {
		name := string(each.data[:8])
		isHome := name == named("claim_refund") || name == named("return_rent")
		if each.accounts[0] != env("ESCROW") || (i == 0 && name != named(instruction)) || (i > 0 && !isHome) {
			return false
		}
	}
	return len(calls) > 0
}

// The wire form of a prepared transaction, its one signer, and its calls of custody. Others may be to helpers only.
func read(prepared answer, helpers string) (wire []byte, signer string, calls []call) {
	wire = bytesOf(prepared.Data["transaction"].(map[string]any)["base64"].(string))
	message := types.MustTransactionDeserialize(wire).Message
	if message.Header.NumRequireSignatures != 1 {
		panic("another signer")
	}
	for _, each := range message.Instructions {
		program, read := message.Accounts[each.ProgramIDIndex].ToBase58(), call{data: each.Data}
		for _, account := range each.Accounts {
			read.accounts = append(read.accounts, message.Accounts[account].ToBase58())
		}
		fee := strings.HasPrefix(program, "ComputeBudget111") && strings.Trim(string(each.Data[4:]), "\x00") != ""
		if program == env("CUSTODY") {
			calls = append(calls, read)
		} else if fee || !strings.Contains(helpers, program) {
			panic("another program, or a fee of 0.03 SOL or more")
		}
	}
	return wire, message.Accounts[0].ToBase58(), calls
}

// Signs, relays, and asks for the outcome: landed, pending or expired.
func relay(wire []byte, signer ed25519.PrivateKey) any {
	copy(wire[1:], ed25519.Sign(signer, wire[65:]))
	body := fmt.Sprintf(`{"signed_transaction":"%s","confirm":true}`, base64.StdEncoding.EncodeToString(wire))
	return get("/v1/relay/" + post("/v1/relay", body).Data["signature"].(string)).Data["status"]
}
