#!/usr/bin/env bash
# A merchant's attestor signs a delivery, with curl, openssl, xxd, jq and bc. ATTESTOR_PEM: an Ed25519 key; PAYLOAD: what was delivered, as RFC 8785 text.
set -euo pipefail
post() { curl -sf "$SERVICE$1" -H 'content-type: application/json' -d "$2"; }
base58_hex() { # an address as 64 hex digits
  local n=0 i; local digits=123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz
  for ((i = 0; i < ${#1}; i++)); do local before=${digits%%"${1:i:1}"*}; n="($n)*58+${#before}"; n=$(BC_LINE_LENGTH=0 bc <<<"$n"); done
  printf '%64s' "$(BC_LINE_LENGTH=0 bc <<<"obase=16;$n" | tr A-F a-f)" | tr ' ' 0
}
proof=$(printf %s "$PAYLOAD" | sha256sum | cut -c1-64)
prepared=$(post "/v1/escrows/$ESCROW/attestation/prepare" "{\"payload\":$PAYLOAD}")
message=$(jq -r .data.message_hex <<<"$prepared")
[ "${message:0:128}" = "$(base58_hex "$ESCROW")$proof" ] || { echo "this is not what was delivered" >&2; exit 1; }
xxd -r -p <<<"$message" >"$TMPDIR/message"
signature=$(openssl pkeyutl -sign -rawin -inkey "$ATTESTOR_PEM" -in "$TMPDIR/message" | base64 -w0)
timestamp=$(jq -r .data.timestamp <<<"$prepared")
claim="{\"proof_hash\":\"$proof\",\"timestamp\":\"$timestamp\",\"attestation_signature\":\"$signature\"}"
# Whoever has this can release the escrow.
post "/v1/escrows/$ESCROW/release/prepare" "$claim" | jq -r .data.operation
echo "$claim"
