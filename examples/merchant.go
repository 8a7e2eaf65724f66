// A merchant's attestor signs a delivery, with Go's standard library. ATTESTOR_KEY: 32 bytes in hex; PAYLOAD: what was delivered, as RFC 8785 text.
package main

import ("bytes"; "crypto/ed25519"; "crypto/sha256"; "encoding/base64"; "encoding/hex"; "encoding/json"; "fmt"; "math/big"; "net/http"; "os"; "strings")

func base58(text string) []byte { // an address as 32 bytes
	n := new(big.Int)
	for _, c := range text { n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(strings.IndexRune("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", c)))) }
	return n.FillBytes(make([]byte, 32))
}
func main() {
	escrow, payload := os.Getenv("ESCROW"), os.Getenv("PAYLOAD")
	answer, err := http.Post(os.Getenv("SERVICE")+"/v1/escrows/"+escrow+"/attestation/prepare", "application/json", strings.NewReader(`{"payload":`+payload+`}`))
	if err != nil { panic(err) }
	var prepared struct{ Data struct{ Message_hex, Timestamp string } }
	if err := json.NewDecoder(answer.Body).Decode(&prepared); err != nil { panic(err) }
	message, _ := hex.DecodeString(prepared.Data.Message_hex)
	proof := sha256.Sum256([]byte(payload))
	// A full release of this escrow for this payload, and nothing else.
	if len(message) != 72 || !bytes.Equal(message[:64], append(base58(escrow), proof[:]...)) { panic("this is not what was delivered") }
	seed, _ := hex.DecodeString(os.Getenv("ATTESTOR_KEY"))
	signature := base64.StdEncoding.EncodeToString(ed25519.Sign(ed25519.NewKeyFromSeed(seed), message))
	fmt.Printf(`{"proof_hash":"%x","timestamp":"%s","attestation_signature":"%s"}`, proof, prepared.Data.Timestamp, signature) // whoever has it can release
}
