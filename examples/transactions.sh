# What agent.sh and merchant.sh share: their variables, the service, addresses, prepared transactions, relaying.
need() { # variables of the environment; without one the process ends with 64 and a line that names it
  for name; do [ "${!name-}" ] || { echo "$name is missing. Set it as examples/README.md says." >&2; exit 64; }; done
}
call() { curl -sf "$SERVICE$1" -H 'content-type: application/json' ${2:+-d "$2"}; }
hash() { sha256sum | cut -c1-64; }
base58_hex() { # an address as 64 hex digits
  local digits=123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz n=0 i before
  for ((i = 0; i < ${#1}; i++)); do
    before=${digits%%"${1:i:1}"*}
    n="$n*58+${#before}"
    n=$(BC_LINE_LENGTH=0 bc <<<"$n")
  done
  printf '%64s' "$(BC_LINE_LENGTH=0 bc <<<"obase=16;$n" | tr A-F a-f)" | tr ' ' 0
}
named() { printf "global:$1" | hash | cut -c1-16; } # the first eight bytes of an instruction's data
little_endian() { printf "%0$2x" "$1" | fold -w2 | tac | tr -d '\n'; }           # a number, and its count of hex digits
public_hex() { openssl pkey -in "$1" -pubout -outform DER | tail -c 32 | xxd -p -c 32; }
sign() { # with a PEM key, a message in hex; the signature in base64
  xxd -r -p <<<"$2" >"$TMPDIR/message"
  openssl pkeyutl -sign -rawin -inkey "$1" -in "$TMPDIR/message" | base64 -w0
}

# What an attestor signs for all of a Pending escrow, its one delivery, of the account's bytes, which must be the
# escrow's, the proof hash and the time, all in hex.
whole_claim() {
  local custody domain made
  custody=$(base58_hex "$CUSTODY") made=$(printf escrow | xxd -p)${1:32:64}${1:288:64}${1:18:2}$custody
  made=$(xxd -r -p <<<"$made$(printf ProgramDerivedAddress | xxd -p -c 64)" | hash)
  [ "$made" = "$(base58_hex "$ESCROW")" ] && [ "${1:20:2}" = 00 ] || return 1
  domain=$(xxd -r -p <<<"$(printf 'settlement-evidence 3\0' | xxd -p -c 64)$(base58_hex "$GENESIS")$custody" | hash)
  echo "$(printf 'attest 3' | xxd -p)$domain$(xxd -r -p <<<"$1" | hash)$2${1:352:16}${3}0100000001000000"
}

# Reads a prepared transaction of one signer, in base64, into message, signer and calls: a line "program accounts data"
# for each, all in hex.
read_transaction() {
  local wire count at key i
  wire=$(base64 -d <<<"$1" | xxd -p -c 1232)
  message=${wire:130} signer=${message:10:64} calls=
  [ "${wire:0:2}${message:0:4}" = 018001 ] || { echo "another signer" >&2; return 1; }
  at=$((10 + 64 * 16#${message:8:2} + 66)) # behind accounts, blockhash and count of calls
  while ((at < ${#message} - 2)); do
    count=$((16#${message:at+2:2}))
    calls+=${message:10 + 64 * 16#${message:at:2}:64}" "
    for ((i = at + 4; i < at + 4 + 2 * count; i += 2)); do
      calls+=${message:10 + 64 * 16#${message:i:2}:64}
    done
    at=$((i + 2)) count=$((16#${message:i:2}))
    ((count < 128)) || { count=$((count - 128 + 128 * 16#${message:at:2})); at=$((at + 2)); }
    calls+=" ${message:at:2*count}"$'\n'
    at=$((at + 2 * count))
  done
}

# Signs what was read with a PEM key, relays it, and prints its outcome: landed, pending or expired.
relay() {
  local wire
  wire=01$(sign "$1" "$message" | base64 -d | xxd -p -c 64)$message
  wire=$(xxd -r -p <<<"$wire" | base64 -w0)
  wire=$(call /v1/relay "{\"signed_transaction\":\"$wire\",\"confirm\":true}" | jq -r .data.signature)
  call "/v1/relay/$wire" | jq -r .data.status
}
