// An agent locks a payment, then checks the delivery and the evidence: go run agent.go transactions.go.
// AGENT_KEY: 32 bytes in hex; SERVICE_KEY: the trust document's, in base64; stdin: what was delivered, RFC 8785 text.
package main

import ("bytes"; "crypto/ed25519"; "crypto/sha256"; "encoding/json"; "fmt"; "io")
import ("github.com/blocto/solana-go-sdk/common"; "os")

func main() {
	var want struct {
		Agent_owner, Merchant, Mint, Attestor, Task_intent, Nonce string
		Ttl_seconds uint32; Amount uint64 `json:"amount_stroops,string"`
	}
	if err := json.Unmarshal([]byte(env("TERMS")), &want); err != nil { panic(err) }
	wire, signer, calls := read(post("/v1/escrows/prepare?transaction=true", env("TERMS")), budget)
	task, create := sha([]byte(want.Task_intent+"\x00"+want.Nonce)), calls[0]
	data := named("create_escrow") + string(task) + string(common.PublicKeyFromString(want.Attestor).Bytes())
	// No session key, and no other end than that of the time to live.
	data += little(0, 32) + little(want.Amount, 8) + little(0, 8) + little(uint64(want.Ttl_seconds), 4)
	// One signer, the agent; one escrow on these terms; beside it only the limits of a small fee.
	found, escrow := fmt.Sprint(signer, len(calls), create.accounts[2], create.accounts[4]), create.accounts[5]
	trusted, asked := bytesOf(env("SERVICE_KEY")), fmt.Sprint(want.Agent_owner, 1, want.Merchant, want.Mint)
	if found != asked || string(create.data) != data { panic("this is not what was asked for") }
	fmt.Println(escrow, relay(wire, key("AGENT_KEY")))
	delivered, _ := io.ReadAll(os.Stdin)
	packet := get("/v1/evidence/" + escrow)
	body, _ := json.Marshal(packet.Data) // sorted, as RFC 8785 wants it
	sealed := fmt.Sprintf("DSSEv1 43 application/vnd.settlement-evidence.v2+json %d %s", len(body), body)
	seal := bytesOf(packet.Signature["signature"])
	if !ed25519.Verify(trusted, []byte(sealed), seal) || !bytes.Contains(body, []byte(escrow)) { panic("another packet") }
	fmt.Println("verified", bytes.Contains(body, fmt.Appendf(nil, "%x", sha256.Sum256(bytes.TrimSpace(delivered)))))
}
