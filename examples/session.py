# One escrow for many deliveries: a session is opened, captured, and ended in three ways; solders signs.
# AGENT_KEY, SESSION_KEY, ATTESTOR_KEY, WALLET_KEY, PAYER_KEY: 32 bytes in hex; TERMS as for agent.py.
import base64, hashlib, json, struct, time
from escrow_terms import terms
from solders import keypair, pubkey, transaction
from transactions import call, env, named, settlement

NAMES = ("AGENT_KEY", "SESSION_KEY", "ATTESTOR_KEY", "WALLET_KEY", "PAYER_KEY")
agent, session, attestor, wallet, payer = (keypair.Keypair.from_seed(bytes.fromhex(env(name))) for name in NAMES)
GENESIS, CUSTODY = (bytes(pubkey.Pubkey.from_string(env(name))) for name in ("GENESIS", "CUSTODY"))
DOMAIN = hashlib.sha256(b"settlement-evidence 3\0" + GENESIS + CUSTODY).digest()

def signature(key, message):
    return base64.b64encode(bytes(key.sign_message(message))).decode()

def land(message, key):
    """Signs with the one key that is needed, relays, and waits until the ledger has finalized it."""
    signed = transaction.VersionedTransaction(message, [key])
    body = {"signed_transaction": base64.b64encode(bytes(signed)).decode(), "confirm": True}
    assert call("/v1/relay", body)["status"] == "finalized"

def opened(nonce, ttl):
    """A new session of the agent. Only what was asked for is signed."""
    asked = {**json.loads(env("TERMS")), "nonce": nonce, "ttl_seconds": ttl, "session_key": str(session.pubkey())}
    prepared = call("/v1/escrows/prepare?transaction=true", asked)
    wire = base64.b64decode(prepared["transaction"]["base64"])
    message = transaction.VersionedTransaction.from_bytes(wire).message
    task = hashlib.sha256(f"{asked['task_intent']}\0{nonce}".encode()).digest()
    data = named("create_escrow") + task + bytes(attestor.pubkey()) + bytes(session.pubkey())
    data += struct.pack("<QqI", int(asked["amount_stroops"]), 0, ttl)
    keys, create = message.account_keys, message.instructions[-1]
    assert (message.header.num_required_signatures, keys[0]) == (1, agent.pubkey()), "another signer"
    assert (keys[create.program_id_index], bytes(create.data)) == (pubkey.Pubkey(CUSTODY), data), "other terms"
    land(message, agent)
    return prepared["escrow_pda"]

def ask(escrow, operation, body, key):
    """Signs the prepared transaction of an operation on the escrow, once it is that and nothing else."""
    path = f"/v1/escrows/{escrow}/{operation}/prepare?transaction=true"
    prepared = call(path, {**body, "payer": str(key.pubkey())})["transaction"]
    instruction = {"close": "close_session", "cancel": "cancel_escrow", "refund": "claim_refund", "release": "release_escrow"}
    land(settlement(prepared, key.pubkey(), escrow, instruction.get(operation, operation)), key)

def paid(escrow, total, deliveries, final):
    """The merchant is paid up to `total` for so many deliveries: by a capture, or at the end by the release."""
    # The roots over deliveries and orders; here of leaves that nobody looks into.
    proof, orders = (hashlib.sha256(f"{what} {deliveries}".encode()).digest() for what in ("deliveries", "orders"))
    claim = {"proof_hash": proof.hex(), "amount_stroops": str(total), "deliveries": deliveries}
    answer = call(f"/v1/escrows/{escrow}/attestation/prepare", {**claim, "final": final})
    account = base64.b64decode(call(f"/v1/evidence/{escrow}")["account"]["data_base64"])
    seeds = b"escrow" + account[16:48] + account[144:176] + account[9:10] + CUSTODY + b"ProgramDerivedAddress"
    assert hashlib.sha256(seeds).digest() == bytes(pubkey.Pubkey.from_string(escrow)), "the account of another escrow"
    these, last = DOMAIN + terms(account), struct.pack("<IB3x", deliveries, final)
    # Of the message only the time is the service's.
    attested = b"attest 3" + these + proof + struct.pack("<Q", total) + bytes.fromhex(answer["message_hex"])[112:120] + last
    assert attested.hex() == answer["message_hex"], "another claim"
    vouched = b"voucher3" + these + orders + struct.pack("<Q", total) + last
    voucher = {"orders": orders.hex(), "total_stroops": str(total), "count": deliveries, "closing": final}
    body = {**claim, "timestamp": answer["timestamp"], "attestation_signature": signature(attestor, attested)}
    body["voucher"] = {**voucher, "signature": signature(session, vouched)}
    ask(escrow, "release" if final else "capture", body, payer)

def ended(escrow):
    read = call(f"/v1/escrows/{escrow}")
    print(escrow, read["state"], read["settled_by"], read["released_stroops"], read["deliveries"], flush=True)

released = opened("released", 3600)
paid(released, 200_000, 2, False)
paid(released, 300_000, 3, False)
# The agent says that the session is over. For a quarter of an hour the merchant can still be paid.
ask(released, "close", {}, agent)
paid(released, 400_000, 4, False)
paid(released, 500_000, 5, True)
ended(released)

cancelled = opened("cancelled", 3600)
paid(cancelled, 100_000, 1, False)
ask(cancelled, "cancel", {}, wallet)
ended(cancelled)

refunded = opened("refunded", 15)
paid(refunded, 100_000, 1, False)
while not call(f"/v1/escrows/{refunded}")["refundable"]:
    time.sleep(1)
ask(refunded, "refund", {}, payer)
ended(refunded)
