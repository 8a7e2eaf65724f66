#!/usr/bin/env bash
# An agent locks a payment, then checks the delivery and the evidence, with curl, openssl, jq, xxd and bc.
# AGENT_PEM, SERVICE_PEM: Ed25519 keys, the latter public; stdin: what was delivered, as RFC 8785 text.
set -euo pipefail
. "$(dirname "$0")/transactions.sh"
need SERVICE CUSTODY AGENT_PEM TERMS SERVICE_PEM
term() { jq -jr ".$1" <<<"$TERMS"; }
prepared=$(call /v1/escrows/prepare?transaction=true "$TERMS")
read_transaction "$(jq -r .data.transaction.base64 <<<"$prepared")"
data=$(named create_escrow)$({ term task_intent; printf '\0'; term nonce; } | hash)
# No session key, and no other end than that of the time to live.
data+=$(base58_hex "$(term attestor)")$(printf %064d 0)$(little_endian "$(term amount_stroops)" 16)$(printf %016d 0)
data+=$(little_endian "$(term ttl_seconds)" 8)
# One signer, the agent; one escrow on these terms; beside it only the limits of a fee below 0.03 SOL.
[ "$signer" = "$(public_hex "$AGENT_PEM")" ] || { echo "another payer" >&2; exit 1; }
account='[0-9a-f]{64}' escrow=$(jq -r .data.escrow_pda <<<"$prepared")
create="^$(base58_hex "$CUSTODY") ($account){2}$(base58_hex "$(term merchant)")$account$(base58_hex "$(term mint)")"
grep -qE "$create$(base58_hex "$escrow")($account){6} $data\$" <<<"$calls" || { echo "another escrow" >&2; exit 1; }
limit="^$(base58_hex ComputeBudget111111111111111111111111111111)  [0-9a-f]{8}(00)*\$"
[ "$(grep -cvE "$limit" <<<"${calls%$'\n'}")" = 1 ] || { echo "another program or fee" >&2; exit 1; }
echo "$escrow $(relay "$AGENT_PEM")"
proof=$(tr -d '\n' | hash)
call "/v1/evidence/$escrow" >"$TMPDIR/packet"
jq -cjS .data "$TMPDIR/packet" >"$TMPDIR/body"
jq -r .signature.signature "$TMPDIR/packet" | base64 -d >"$TMPDIR/seal"
type='DSSEv1 43 application/vnd.settlement-evidence.v2+json'
printf '%s %s ' "$type" "$(wc -c <"$TMPDIR/body")" | cat - "$TMPDIR/body" >"$TMPDIR/sealed"
openssl pkeyutl -verify -pubin -inkey "$SERVICE_PEM" -rawin -in "$TMPDIR/sealed" -sigfile "$TMPDIR/seal" >/dev/null
[ "$(jq -r .escrow.escrow_pda "$TMPDIR/body")" = "$escrow" ] || { echo "another packet" >&2; exit 1; }
echo "verified $(jq --arg proof "$proof" '.delivery_claim.proof_hash == $proof' "$TMPDIR/body")"
