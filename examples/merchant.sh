#!/usr/bin/env bash
# A merchant's attestor signs a delivery, and the merchant releases the payment with it: curl, openssl, jq, xxd and bc.
# ATTESTOR_PEM, PAYER_PEM: Ed25519 keys; PAYER: the latter's address; PAYLOAD: what was delivered, as RFC 8785 text.
set -euo pipefail
. "$(dirname "$0")/transactions.sh"
need SERVICE CUSTODY GENESIS ESCROW PAYLOAD ATTESTOR_PEM PAYER_PEM PAYER
proof=$(printf %s "$PAYLOAD" | hash)
attested=$(call "/v1/escrows/$ESCROW/attestation/prepare" "{\"payload\":$PAYLOAD}" | jq -c .data)
claim=$(jq -r .message_hex <<<"$attested")
# A full release: of this escrow, on this ledger, for this payload. Only the time is the service's.
account=$(call "/v1/evidence/$ESCROW" | jq -r .data.account.data_base64 | base64 -d | xxd -p -c 416)
[ "$claim" = "$(whole_claim "$account" "$proof" "${claim:224:16}")" ] || { echo "another claim" >&2; exit 1; }
signature=$(sign "$ATTESTOR_PEM" "$claim")
members='{proof_hash, timestamp, payer: $payer, attestation_signature: $signature}'
release=$(jq -c --arg payer "$PAYER" --arg signature "$signature" "$members" <<<"$attested")
prepared=$(call "/v1/escrows/$ESCROW/release/prepare?transaction=true" "$release")
read_transaction "$(jq -r .data.transaction.base64 <<<"$prepared")"
# One signer, who pays the fee, below 0.03 SOL, and the rent of the merchant's token account where there is none.
[ "$signer" = "$(base58_hex "$PAYER")" ] || { echo "another payer" >&2; exit 1; }
called="$(base58_hex "$CUSTODY") $(base58_hex "$ESCROW")[0-9a-f]* "
budget=$(base58_hex ComputeBudget111111111111111111111111111111)
ed25519=$(base58_hex Ed25519SigVerify111111111111111111111111111)
tokens=$(base58_hex ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL)
# Behind the release only what brings the agent's rest and the rent home.
home="$(named claim_refund)|$(named return_rent)"
allowed="^($called($(named release_escrow)|$home)|$ed25519 |$tokens |$budget  [0-9a-f]{8}(00)*\$)"
! grep -qvE "$allowed" <<<"${calls%$'\n'}" || { echo "another program, escrow, instruction or fee" >&2; exit 1; }
echo "$(relay "$PAYER_PEM") $(call "/v1/evidence/$ESCROW" | jq -r .data.settlement_decision.status)"
