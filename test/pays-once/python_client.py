"""An agent's client in Python, after docs/pays-once.md. It signs with solders, and only a transaction that it has taken apart.

Prints the escrow and ends with 0 when it is paid, with 75 when that is not known yet, and with 1 when it must not be run again.
"""

import base64
import hashlib
import http.client
import json
import os
import struct
import sys
import time
import urllib.error
import urllib.request

from solders.keypair import Keypair
from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

ENV = os.environ
TRIES, TRY_SECONDS = 6, 45
PASSING = {408, 425, 429, 502, 503, 504}
MOST_TRANSACTIONS, CONFIRMING_LOOKS = 5, 40
MOST_PRIORITY_FEE = 1_000_000
TOKEN = Pubkey.from_string("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
ASSOCIATED = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
SYSTEM = Pubkey.from_string("11111111111111111111111111111111")
BUDGET = Pubkey.from_string("ComputeBudget111111111111111111111111111111")


class TryAgain(Exception):
    """It is not known whether it is paid."""


class Refused(Exception):
    """It is not paid, and the same again would not be either."""


def call(path, body=None, headers=None):
    """An answer's status and JSON. What is lost, cut or passing is asked again: everything that this client sends is safe to repeat."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        ENV["SERVICE_URL"] + path, data, {"content-type": "application/json", **(headers or {})}
    )
    for tried in range(TRIES):
        wait = min(5, 0.2 * 2**tried)
        try:
            try:
                with urllib.request.urlopen(request, timeout=TRY_SECONDS) as answer:
                    return answer.status, json.load(answer)
            except urllib.error.HTTPError as problem:
                if problem.code not in PASSING:
                    return problem.code, json.load(problem)
                after = problem.headers.get("retry-after", "")
                wait = int(after) if after.isdigit() else wait
        except (OSError, http.client.HTTPException, ValueError):
            pass
        time.sleep(wait)
    raise TryAgain(f"{path} was not answered in {TRIES} tries")


def derived(program, *seeds):
    return Pubkey.find_program_address(list(seeds), program)[0]


agent = Keypair.from_seed(bytes.fromhex(ENV["AGENT_KEY"]))
with open(ENV["TRUST_FILE"], encoding="utf-8") as file:
    trust = json.load(file)
custody = Pubkey.from_string(trust["custody_program"])
merchant, mint = Pubkey.from_string(ENV["MERCHANT"]), Pubkey.from_string(ENV["MINT"])
task_hash = hashlib.sha256(f"{ENV['TASK']}\0{ENV['NONCE']}".encode()).digest()
escrow = derived(custody, b"escrow", bytes(agent.pubkey()), task_hash)


def token_account(owner):
    return derived(ASSOCIATED, bytes(owner), bytes(TOKEN), bytes(mint))


#: What `create_escrow` names, in its order (docs/protocol.md).
ACCOUNTS = [
    agent.pubkey(),
    agent.pubkey(),
    merchant,
    derived(Pubkey.from_string(trust["attestor_program"]), b"merchant", bytes(merchant)),
    mint,
    escrow,
    token_account(escrow),
    token_account(agent.pubkey()),
    derived(custody, b"config"),
    TOKEN,
    ASSOCIATED,
    SYSTEM,
]


def require_same(found):
    asked = {
        "escrow_pda": str(escrow),
        "agent_owner": str(agent.pubkey()),
        "merchant": str(merchant),
        "mint": str(mint),
        "amount_stroops": ENV["AMOUNT_UNITS"],
        "task_hash": task_hash.hex(),
    }
    other = [name for name, value in asked.items() if found[name] != value]
    seconds = [time.strptime(found[name], "%Y-%m-%dT%H:%M:%SZ") for name in ("created_at", "expires_at")]
    if time.mktime(seconds[1]) - time.mktime(seconds[0]) != int(ENV["TTL"]):
        other.append("expires_at")
    if other:
        raise Refused(f"this task and nonce were paid on other terms: {', '.join(other)}")


def is_there():
    """Whether the payment's escrow is there, on these terms as far as anybody can show them."""
    status, answer = call(f"/v1/escrows/{escrow}")
    if status == 404:
        return False
    if status == 410 and answer.get("code") == "archived_unseen" and answer.get("archived"):
        print("it was paid and settled; its terms are unproven", file=sys.stderr)
        return True
    if status != 200:
        raise Refused(f"{status}: {answer}") if status < 500 else TryAgain(answer)
    require_same(answer["data"])
    return True


def is_there_after(answer):
    """The same after a failure. What the ledger refused because it is there, reads show once it is confirmed."""
    error = answer.get("program_error") or {}
    looks = CONFIRMING_LOOKS if error.get("name") == "EscrowExists" else 1
    for look in range(looks):
        if is_there():
            return True
        if look + 1 < looks:
            time.sleep(0.5)
    return False


def expected(message):
    """Whether a prepared message locks this payment and does nothing else. The attestor's key is the ledger's to judge."""
    keys = message.account_keys
    if isinstance(message, MessageV0) and message.address_table_lookups:
        return False
    if message.header.num_required_signatures != 1 or keys[0] != agent.pubkey():
        return False
    *fees, create = message.instructions
    units, price = 1_400_000, 0
    for fee in fees:
        data = bytes(fee.data)
        if keys[fee.program_id_index] != BUDGET:
            return False
        if data[:1] == b"\2":
            units = struct.unpack("<I", data[1:])[0]
        elif data[:1] == b"\3":
            price = struct.unpack("<Q", data[1:])[0]
        elif data[:1] != b"\4":
            return False
    data = bytes(create.data)
    head = hashlib.sha256(b"global:create_escrow").digest()[:8] + task_hash
    # No session key, and no end but the time to live.
    tail = bytes(32) + struct.pack("<QqI", int(ENV["AMOUNT_UNITS"]), 0, int(ENV["TTL"]))
    return (
        units * price <= MOST_PRIORITY_FEE * 1_000_000
        and keys[create.program_id_index] == custody
        and [keys[place] for place in create.accounts] == ACCOUNTS
        and len(data) == 124
        and (data[:40], data[72:]) == (head, tail)
    )


def signed_transaction():
    """The payment, signed; or the problem for which there is none."""
    terms = {
        "agent_owner": str(agent.pubkey()),
        "merchant": str(merchant),
        "mint": str(mint),
        "amount_stroops": ENV["AMOUNT_UNITS"],
        "ttl_seconds": int(ENV["TTL"]),
        "task_intent": ENV["TASK"],
        "nonce": ENV["NONCE"],
    }
    status, answer = call("/v1/escrows/prepare?transaction=true", terms)
    if status != 200:
        return None, {**answer, "status": status}
    wire = base64.b64decode(answer["data"]["transaction"]["base64"])
    message = VersionedTransaction.from_bytes(wire).message
    if not expected(message):
        raise Refused("the prepared transaction is another than was asked for; nothing was signed")
    return VersionedTransaction(message, [agent]), None


def outcome_of(transaction):
    """What became of a transaction: `landed` or `expired`, or the problem for which the relay refuses it."""
    signature, taken = str(transaction.signatures[0]), False
    body = {"signed_transaction": base64.b64encode(bytes(transaction)).decode(), "confirm": True}
    wait = 0.5
    while True:
        if not taken:
            status, answer = call("/v1/relay", body, {"idempotency-key": signature})
            taken = status < 300
            if not taken and answer.get("code") != "idempotency_key_in_flight":
                return {**answer, "status": status}
        status, answer = call(f"/v1/relay/{signature}")
        if status == 404:
            taken = False
        elif status != 200:
            return {**answer, "status": status}
        else:
            data = answer["data"]
            if data["status"] == "expired" or (data["status"] == "landed" and data["commitment"] != "processed"):
                return data
        time.sleep(wait)
        wait = min(wait * 2, 5)


def pay():
    for _ in range(MOST_TRANSACTIONS):
        if is_there():
            return
        transaction, problem = signed_transaction()
        outcome = problem or outcome_of(transaction)
        if outcome["status"] == "landed" and outcome.get("error") is None:
            return
        if is_there_after(outcome):
            return
        # Neither can land any more. The ledger takes one escrow of this nonce, whatever else was sent.
        if outcome["status"] == "expired" or outcome.get("code") == "blockhash_expired":
            continue
        is_passing = isinstance(outcome["status"], int) and outcome["status"] >= 500
        raise TryAgain(outcome) if is_passing else Refused(outcome)
    raise TryAgain(f"{MOST_TRANSACTIONS} transactions expired")


try:
    pay()
    print(escrow)
except TryAgain as cause:
    print(cause, file=sys.stderr)
    sys.exit(75)
except Refused as cause:
    print(cause, file=sys.stderr)
    sys.exit(1)
