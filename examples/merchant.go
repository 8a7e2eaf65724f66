// A merchant's attestor signs a delivery, and the merchant releases with it: go run merchant.go transactions.go.
// ATTESTOR_KEY, PAYER_KEY: 32 bytes in hex; PAYLOAD: what was delivered, as RFC 8785 text.
package main

import ("bytes"; "crypto/ed25519"; "crypto/sha256"; "encoding/base64"; "encoding/hex"; "fmt")
import "github.com/blocto/solana-go-sdk/common"

func main() {
	escrow, payload, payer := env("ESCROW"), env("PAYLOAD"), key("PAYER_KEY")
	attested := post("/v1/escrows/"+escrow+"/attestation/prepare", `{"payload":`+payload+`}`).Data
	message, _ := hex.DecodeString(attested["message_hex"].(string))
	proof := sha256.Sum256([]byte(payload))
	account := get("/v1/evidence/" + escrow).Data["account"].(map[string]any)
	// A full release: of this escrow, on this ledger, for this payload. Only the time is the service's.
	claimed := wholeClaim(bytesOf(account["data_base64"].(string)), proof[:])
	if len(message) != 128 || !bytes.Equal(append(message[:112:112], message[120:]...), claimed) { panic("another claim") }
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(key("ATTESTOR_KEY"), message))
	from := common.PublicKeyFromBytes(payer[32:]).ToBase58()
	claim := fmt.Sprintf(`{"proof_hash":"%x","timestamp":"%s","attestation_signature":"%s","payer":"%s"}`,
		proof, attested["timestamp"], signature, from)
	wire, signer, calls := read(post("/v1/escrows/"+escrow+"/release/prepare?transaction=true", claim), budget+helpers)
	// One signer, who pays the fee, and the rent of the merchant's token account where there is none.
	if signer != from || !settles(calls, "release_escrow") { panic("another payer, escrow or instruction") }
	fmt.Println(relay(wire, payer), get("/v1/evidence/"+escrow).Data["settlement_decision"].(map[string]any)["status"])
}
