# A session's lives over HTTP, with the demo keys of the local ledger. Its packets are verified by the project.
# STEP=open: opens sessions, and releases, cancels or leaves them. It prints what the next step needs as SESSIONS.
# STEP=later, when the ledger has skipped eight days: refunds what was left, archives what was released, pays the rest.
# SERVICE, CUSTODY, GENESIS and TRUST_FILE are those of README.md, the last two kept from before the first step.
import base64, hashlib, json, struct, subprocess, sys, tempfile, time, uuid
from pathlib import Path
from escrow_terms import terms
from solders import keypair, pubkey, transaction
from transactions import HELPERS, answer, call, env, named, settlement

def local(label):
    return keypair.Keypair.from_seed(hashlib.sha256(f"settlement-evidence/local/{label}".encode()).digest())

AGENT, WALLET, ATTESTOR = local("agent/planner"), local("merchant/forecast"), local("attestor/forecast")
MINT, SESSION = str(local("usdc-mint").pubkey()), keypair.Keypair()
CUSTODY, GENESIS = (bytes(pubkey.Pubkey.from_string(env(name))) for name in ("CUSTODY", "GENESIS"))
DOMAIN = hashlib.sha256(b"settlement-evidence 3\0" + GENESIS + CUSTODY).digest()
AMOUNT = 1_000_000

def base64_of(data):
    return base64.b64encode(bytes(data)).decode()

def root(entries):
    """The root of a Merkle tree (RFC 6962, section 2.1)."""
    if len(entries) == 1:
        return hashlib.sha256(b"\0" + entries[0]).digest()
    left = 1 << (len(entries) - 1).bit_length() - 1
    return hashlib.sha256(b"\1" + root(entries[:left]) + root(entries[left:])).digest()

def land(message, signer):
    """Signs a message that was checked, and sends it. It has landed afterwards."""
    signed = transaction.VersionedTransaction(message, [signer])
    call("/v1/relay", {"signed_transaction": base64_of(signed), "confirm": True})
    path = f"/v1/relay/{signed.signatures[0]}"
    while (outcome := call(path))["status"] == "submitted":
        time.sleep(1)
    assert (outcome["status"], outcome["error"]) == ("landed", None), outcome

def settle(escrow, operation, instruction, signer, body={}, parts=()):
    """Prepares one step of an escrow, compares it with what was asked for, and lands it."""
    asked = {**body, "payer": str(signer.pubkey())}
    prepared = call(f"/v1/escrows/{escrow}/{operation}/prepare?transaction=true", asked)["transaction"]
    message = settlement(prepared, signer.pubkey(), escrow, instruction)
    keys = [str(key) for key in message.account_keys]
    proofs = [bytes(each.data) for each in message.instructions if keys[each.program_id_index].startswith(HELPERS[1])]
    assert len(proofs) == (1 if parts else 0) and all(part in proofs[0] for part in parts), "another proof"
    land(message, signer)

def opened(nonce):
    """A session of an hour, locked by the agent. Only the session's key can say what may be taken."""
    asked = {"agent_owner": str(AGENT.pubkey()), "merchant": str(WALLET.pubkey()), "mint": MINT, "nonce": nonce}
    asked |= {"attestor": str(ATTESTOR.pubkey()), "session_key": str(SESSION.pubkey()), "ttl_seconds": 3600}
    asked |= {"amount_stroops": str(AMOUNT), "task_intent": "quotes, one by one"}
    prepared = call("/v1/escrows/prepare?transaction=true", asked)["transaction"]
    message = transaction.VersionedTransaction.from_bytes(base64.b64decode(prepared["base64"])).message
    keys, (*fees, create) = [str(key) for key in message.account_keys], message.instructions
    program = keys[create.program_id_index]
    merchant, mint, escrow = (keys[create.accounts[n]] for n in (2, 4, 5))
    data = named("create_escrow") + hashlib.sha256(f"{asked['task_intent']}\0{nonce}".encode()).digest()
    data += bytes(ATTESTOR.pubkey()) + bytes(SESSION.pubkey()) + struct.pack("<QqI", AMOUNT, 0, 3600)
    assert (message.header.num_required_signatures, keys[0], bytes(create.data)) == (1, str(AGENT.pubkey()), data)
    assert (program, merchant, mint) == (env("CUSTODY"), str(WALLET.pubkey()), MINT), "another escrow"
    assert all(keys[fee.program_id_index].startswith(HELPERS[0]) and not any(bytes(fee.data)[4:]) for fee in fees)
    land(message, AGENT)
    return escrow

def take(escrow, delivered, total, final=False, bare=False):
    """The attestor claims all that was delivered and the agent vouches for it; the merchant takes the total."""
    account = base64.b64decode(call(f"/v1/evidence/{escrow}")["account"]["data_base64"])
    seeds = b"escrow" + account[16:48] + account[144:176] + account[9:10] + CUSTODY + b"ProgramDerivedAddress"
    assert hashlib.sha256(seeds).digest() == bytes(pubkey.Pubkey.from_string(escrow)), "the account of another escrow"
    proof, orders = (root([f"{kind} {each}".encode() for each in delivered]) for kind in ("delivery", "order"))
    asked = {"proof_hash": proof.hex(), "amount_stroops": str(total), "deliveries": len(delivered)}
    attested = call(f"/v1/escrows/{escrow}/attestation/prepare", {**asked, "final": final})
    claim, names = bytes.fromhex(attested["message_hex"]), DOMAIN + terms(account)
    ends = struct.pack("<IB3x", len(delivered), final)
    built = b"attest 3" + names + proof + struct.pack("<Q", total) + claim[112:120] + ends
    # Only the time is the service's.
    assert claim == built, "another claim"
    voucher = b"voucher3" + names + orders + struct.pack("<Q", total) + ends
    claimed, vouched = ATTESTOR.sign_message(claim), SESSION.sign_message(voucher)
    body = {**asked, "timestamp": attested["timestamp"], "attestation_signature": base64_of(claimed)}
    body["voucher"] = {"orders": orders.hex(), "total_stroops": str(total), "count": len(delivered)}
    body["voucher"] |= {"closing": final, "signature": base64_of(vouched)}
    operation, instruction = ("release", "release_escrow") if final else ("capture", "capture")
    parts = (claim, bytes(claimed), voucher, bytes(vouched))
    settle(escrow, operation, instruction, WALLET, {**body, **({"bare": True} if bare else {})}, parts)

def verified(escrow, decision, *also):
    """Fetches the packet once the settlement is final, and has the project verify it under the pinned trust."""
    packet = answer(f"/v1/evidence/{escrow}")
    assert packet["data"]["settlement_decision"]["status"] == decision, packet["data"]["settlement_decision"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "packet.json")
        file.write_text(json.dumps(packet))
        command = ["bun", "run", "cli", "verify", str(file), "--trust", str(Path(env("TRUST_FILE")).resolve())]
        done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    print(decision, *also, "verified", file=sys.stderr)

def open_step():
    # What is left of a run belongs to that run: an escrow's address is used for ever.
    run = uuid.uuid4().hex
    released, cancelled, left, rest = (opened(f"{life} {run}") for life in ("released", "cancelled", "left", "rest"))
    take(released, [1], 100_000)
    take(released, [1, 2, 3], 300_000)
    settle(released, "close", "close_session", AGENT)
    take(released, [1, 2, 3, 4], 400_000)
    take(released, [1, 2, 3, 4, 5], 500_000, final=True)
    verified(released, "released")
    take(cancelled, [1], 100_000)
    settle(cancelled, "cancel", "cancel_escrow", WALLET)
    verified(cancelled, "released", "by cancellation")
    take(left, [1], 100_000)
    take(rest, [1, 2], 200_000, final=True, bare=True)
    verified(rest, "released", "alone")
    print(json.dumps({"left": left, "rest": rest}))

def later_step():
    sessions = json.loads(env("SESSIONS"))
    settle(sessions["left"], "refund", "claim_refund", WALLET)
    verified(sessions["left"], "released", "by refund")
    settle(sessions["rest"], "archive", "archive_escrow", WALLET)
    verified(sessions["rest"], "released", "archived")
    settle(sessions["rest"], "refund", "claim_refund", WALLET, {"bare": True})
    settle(sessions["rest"], "rent", "return_rent", WALLET)
    verified(sessions["rest"], "released", "archived, with nothing left")
    print("verified")

{"open": open_step, "later": later_step}[env("STEP")]()
