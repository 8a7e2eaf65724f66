# Anybody releases an escrow with its attestation, or refunds an expired one, and pays the fee; solders signs.
# PAYER_KEY: 32 bytes in hex; CLAIM: proof_hash, timestamp and attestation_signature as JSON, or {} to refund.
import base64, json
from solders import keypair, transaction
from transactions import call, env

payer = keypair.Keypair.from_seed(bytes.fromhex(env("PAYER_KEY")))
escrow, claim = env("ESCROW"), json.loads(env("CLAIM"))
path = f"/v1/escrows/{escrow}/{'release' if claim else 'refund'}/prepare?transaction=true"
prepared = call(path, {**claim, "payer": str(payer.pubkey())})["transaction"]
message = transaction.VersionedTransaction.from_bytes(base64.b64decode(prepared["base64"])).message
keys, (*others, last) = [str(key) for key in message.account_keys], message.instructions
helpers = ("ComputeBudget1111", "Ed25519SigVerify1111", "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
# One signer, who pays the fee, below 0.03 SOL, and the rent of the payee's token account where there is none.
assert (message.header.num_required_signatures, keys[0]) == (1, str(payer.pubkey())), "another payer or signer"
assert (keys[last.program_id_index], keys[last.accounts[0]]) == (env("CUSTODY"), escrow), "another escrow"
for each in others:
    assert keys[each.program_id_index].startswith(helpers), "another program"
    assert not keys[each.program_id_index].startswith(helpers[0]) or not any(bytes(each.data)[4:]), "too high a fee"
signed = transaction.VersionedTransaction(message, [payer])
call("/v1/relay", {"signed_transaction": base64.b64encode(bytes(signed)).decode(), "confirm": True})
outcome, evidence = call(f"/v1/relay/{signed.signatures[0]}"), call(f"/v1/evidence/{escrow}")
print(outcome["status"], evidence["settlement_decision"]["status"])
