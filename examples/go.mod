module settlement-evidence/examples

go 1.21

require github.com/blocto/solana-go-sdk v1.30.0

require (
	filippo.io/edwards25519 v1.0.0-rc.1 // indirect
	github.com/mr-tron/base58 v1.2.0 // indirect
)
