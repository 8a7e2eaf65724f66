# An agent locks a payment, then checks the delivery and the evidence. Signs with solders, and only what it asked for.
# AGENT_KEY: 32 bytes in hex; SERVICE_KEY: the trust document's, in base64; stdin: what was delivered, as RFC 8785 text.
import base64, hashlib, json, struct
from solders import keypair, pubkey, signature, transaction
from transactions import answer, call, env, named

custody, service_key = env("CUSTODY"), base64.b64decode(env("SERVICE_KEY"))
agent, terms = keypair.Keypair.from_seed(bytes.fromhex(env("AGENT_KEY"))), json.loads(env("TERMS"))
prepared = call("/v1/escrows/prepare?transaction=true", terms)
message = transaction.VersionedTransaction.from_bytes(base64.b64decode(prepared["transaction"]["base64"])).message
keys, (*fees, create) = [str(key) for key in message.account_keys], message.instructions
program, merchant, mint, escrow = (keys[i] for i in (create.program_id_index, *(create.accounts[n] for n in (2, 4, 5))))
task = hashlib.sha256(f"{terms['task_intent']}\0{terms['nonce']}".encode()).digest()
data = named("create_escrow") + task + bytes(pubkey.Pubkey.from_string(terms["attestor"]))
# No session key, and no other end than that of the time to live.
data += bytes(32) + struct.pack("<QqI", int(terms["amount_stroops"]), 0, terms["ttl_seconds"])
# One signer, the agent; one escrow on these terms; beside it only the limits of a fee below 0.03 SOL.
assert (message.header.num_required_signatures, keys[0], bytes(create.data)) == (1, str(agent.pubkey()), data)
assert (program, merchant, mint) == (custody, terms["merchant"], terms["mint"])
assert all(keys[fee.program_id_index].startswith("ComputeBudget111") and not any(bytes(fee.data)[4:]) for fee in fees)
signed = transaction.VersionedTransaction(message, [agent])
call("/v1/relay", {"signed_transaction": base64.b64encode(bytes(signed)).decode(), "confirm": True})
print(escrow, call(f"/v1/relay/{signed.signatures[0]}")["status"], flush=True)
delivered, packet = hashlib.sha256(input().encode()).hexdigest(), answer(f"/v1/evidence/{escrow}")
body = json.dumps(packet["data"], sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
sealed = b"DSSEv1 43 application/vnd.settlement-evidence.v2+json %d %b" % (len(body), body)
seal = base64.b64decode(packet["signature"]["signature"])
assert signature.Signature.from_bytes(seal).verify(pubkey.Pubkey.from_bytes(service_key), sealed)
assert escrow.encode() in body
print("verified", delivered == packet["data"]["delivery_claim"]["proof_hash"])
