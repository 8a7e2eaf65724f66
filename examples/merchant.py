# A merchant's attestor signs a delivery, and the merchant releases the payment with it; solders signs.
# ATTESTOR_KEY, PAYER_KEY: 32 bytes in hex; PAYLOAD: what was delivered, as RFC 8785 text.
import base64, hashlib, json
from solders import keypair, pubkey, transaction
from transactions import call, env, settlement, whole_claim

attestor, payer = (keypair.Keypair.from_seed(bytes.fromhex(env(name))) for name in ("ATTESTOR_KEY", "PAYER_KEY"))
escrow, proof = env("ESCROW"), hashlib.sha256(env("PAYLOAD").encode())
attested = call(f"/v1/escrows/{escrow}/attestation/prepare", {"payload": json.loads(env("PAYLOAD"))})
claim = bytes.fromhex(attested["message_hex"])
account = base64.b64decode(call(f"/v1/evidence/{escrow}")["account"]["data_base64"])
known = (bytes(pubkey.Pubkey.from_string(env(name))) for name in ("ESCROW", "CUSTODY", "GENESIS"))
# A full release: of this escrow, on this ledger, for this payload. Only the time is the service's.
assert claim == whole_claim(account, *known, proof.digest(), claim[112:120]), "another claim"
release = {"proof_hash": proof.hexdigest(), "timestamp": attested["timestamp"], "payer": str(payer.pubkey())}
release["attestation_signature"] = base64.b64encode(bytes(attestor.sign_message(claim))).decode()
prepared = call(f"/v1/escrows/{escrow}/release/prepare?transaction=true", release)["transaction"]
message = settlement(prepared, payer.pubkey(), escrow, "release_escrow")
signed = transaction.VersionedTransaction(message, [payer])
call("/v1/relay", {"signed_transaction": base64.b64encode(bytes(signed)).decode(), "confirm": True})
outcome, evidence = call(f"/v1/relay/{signed.signatures[0]}"), call(f"/v1/evidence/{escrow}")
print(outcome["status"], evidence["settlement_decision"]["status"])
