# Anybody releases an escrow with its attestation, or refunds an expired one, and pays the fee; solders signs.
# PAYER_KEY: 32 bytes in hex; CLAIM: proof_hash, timestamp and attestation_signature as JSON, or {} to refund.
import base64, json
from solders import keypair, transaction
from transactions import call, env, settlement

payer = keypair.Keypair.from_seed(bytes.fromhex(env("PAYER_KEY")))
escrow, claim = env("ESCROW"), json.loads(env("CLAIM"))
path = f"/v1/escrows/{escrow}/{'release' if claim else 'refund'}/prepare?transaction=true"
prepared = call(path, {**claim, "payer": str(payer.pubkey())})["transaction"]
message = settlement(prepared, payer.pubkey(), escrow, "release_escrow" if claim else "claim_refund")
signed = transaction.VersionedTransaction(message, [payer])
call("/v1/relay", {"signed_transaction": base64.b64encode(bytes(signed)).decode(), "confirm": True})
outcome, evidence = call(f"/v1/relay/{signed.signatures[0]}"), call(f"/v1/evidence/{escrow}")
print(outcome["status"], evidence["settlement_decision"]["status"])
