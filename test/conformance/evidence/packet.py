"""A verifier of evidence packets, after docs/verify-evidence.md ("In another language") and docs/protocol.md.

It judges what the account and the service's signature say, without a log, a node and the form of `references`.
Argument: the trust document. Reads a JSON array of packets' texts, and prints a JSON array: of each packet the first
check that fails, or null.
"""

import base64
import hashlib
import json
import struct
import sys
from datetime import datetime, timezone
from pathlib import Path

from solders.pubkey import Pubkey
from solders.signature import Signature

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples"))
from escrow_terms import terms  # noqa: E402

TYPE = "application/vnd.settlement-evidence.v2+json"
NETWORK = ("cluster", "genesis_hash", "custody_program", "attestor_program")
VAULTS = Pubkey.from_string("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
TOKENS = Pubkey.from_string("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
STATES = ("Pending", "Fulfilled", "Refunded", "PartiallyFulfilled")
ENDS = (None, "release", "refund", "cancel")
LATEST = 253_402_300_799
# Offsets of addresses, and of numbers with their form.
KEYS = {"agent_owner": 16, "merchant": 48, "mint": 80, "rent_payer": 112, "attestor": 248, "session_key": 368}
NUMBERS = {
    "deliveries": "I12", "amount": "Q176", "released": "Q184", "created_at": "q192", "expires_at": "q200",
    "settled_at": "q208", "attested_at": "q280", "created_seq": "Q352", "settled_seq": "Q360", "closes_at": "q408",
}
PURPOSE = (
    "Audit packet for post-payment delivery settlement state: what the merchant's attestor asserted and what the ledger "
    "did with the payment. It does not say that anything was delivered."
)
VERIFICATION = (
    "Ed25519 attestation from a registered merchant key. The ledger releases an escrow only with one; it checks the "
    "signature and its time, never the delivery itself."
)


class Failed(Exception):
    """A check fails."""


def need(holds, check):
    if not holds:
        raise Failed(check)


def canonical(value):
    """The RFC 8785 bytes of what packets hold: ASCII names and whole numbers."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def moment(seconds):
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def signed(signature, key, message):
    """solders verifies strictly, as the ledger does."""
    return Signature.from_bytes(signature).verify(Pubkey.from_bytes(key), message)


def check_service(packet, trust):
    seal, body = packet["signature"], canonical(packet["data"])
    need(seal["digest_sha256"] == sha256(body).hex(), "digest")
    need(seal["status"] == "signed", "service_signature")
    key = base64.b64decode(seal["public_key"], validate=True)
    x = base64.urlsafe_b64encode(key).decode().rstrip("=")
    thumbprint = sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode())
    kid = base64.urlsafe_b64encode(thumbprint).decode().rstrip("=")
    sealed = f"DSSEv1 {len(TYPE)} {TYPE} {len(body)} ".encode() + body
    is_signed = signed(base64.b64decode(seal["signature"], validate=True), key, sealed)
    need(seal["key_id"] == kid and is_signed, "service_signature")
    statuses = [each["status"] for each in trust["jwks"]["keys"] if each["kid"] == kid and each["x"] == x]
    need(statuses and "revoked" not in statuses, "service_key")
    need(all(packet["data"]["network"][name] == trust[name] for name in NETWORK), "network")


def check_account(data, at, end, state, by):
    """The rules of the account's own table."""
    amount, released, pending = at["amount"], at["released"], state == "Pending"
    session, closes = any(data[368:400]), at["closes_at"]
    since = max(at["created_at"], closes - 900 if closes else 0, at["attested_at"] - 30 if released else 0)
    paid_as = "Refunded" if released == 0 else "Fulfilled" if released == amount else "PartiallyFulfilled"
    rules = [
        len(data) == 416 and data[:8] == sha256(b"account:Escrow")[:8] and data[8] == 3 and not any(data[401:408]),
        0 <= at["created_at"] < at["expires_at"] <= min(LATEST, at["created_at"] + 604_800),
        0 < amount >= released and any(data[248:280]) and at["created_seq"] >= 1,
        pending == (by is None) == (at["settled_at"] == 0) == (at["settled_seq"] == 0),
        pending or (state == paid_as and at["settled_seq"] > at["created_seq"]),
        pending or (since <= at["settled_at"] <= LATEST and (at["settled_at"] >= end) == (by == "refund")),
        by != "release" or at["settled_at"] <= at["attested_at"] + 300,
        not closes or (session and at["created_at"] + 900 <= closes <= at["expires_at"]) or closes == at["expires_at"],
        session or (bool(released) == (by == "release") and at["deliveries"] == bool(released)),
        released or not (at["deliveries"] or any(data[216:248]) or any(data[280:352])),
        not released or at["created_at"] <= at["attested_at"] < end + (0 if by == "release" else 30),
    ]
    need(all(rules), "account_bytes")
    return since


def decided(state, by, closed, expired):
    """Status and reason of the settlement's decision."""
    if state == "Pending":
        return "pending", "ttl_expired_refund_available" if expired else "awaiting_delivery_proof"
    if state == "Refunded":
        unproven = "session_closed_without_delivery_proof" if closed else "ttl_expired_without_delivery_proof"
        return "refunded", "merchant_cancelled" if by == "cancel" else unproven
    partial = "" if state == "Fulfilled" else "partial_"
    return "released", f"merchant_{partial}delivery_proof_verified"


def check_data(given):
    need(given["version"] == "settlement-evidence-v2", "form")
    network, data = given["network"], base64.b64decode(given["account"]["data_base64"], validate=True)
    custody, attestors = (Pubkey.from_string(network[name]) for name in NETWORK[2:])
    need(given["account"]["owner"] == str(custody) and len(data) == 416, "account_bytes")
    need(data[10] < len(STATES) and data[400] < len(ENDS), "account_bytes")
    at = {name: struct.unpack_from(f"<{how[0]}", data, int(how[1:]))[0] for name, how in NUMBERS.items()}
    state, by, closed = STATES[data[10]], ENDS[data[400]], at["closes_at"] != 0
    end, pending = at["closes_at"] or at["expires_at"], state == "Pending"
    since = check_account(data, at, end, state, by)
    key = {name: Pubkey.from_bytes(data[start:start + 32]) for name, start in KEYS.items()}

    escrow, bump = Pubkey.find_program_address([b"escrow", bytes(key["agent_owner"]), data[144:176]], custody)
    vault, vault_bump = Pubkey.find_program_address([bytes(escrow), bytes(TOKENS), bytes(key["mint"])], VAULTS)
    merchant, _ = Pubkey.find_program_address([b"merchant", bytes(key["merchant"])], attestors)
    is_there = given["escrow"]["escrow_pda"] == str(escrow) and (bump, vault_bump) == (data[9], data[11])
    need(is_there, "escrow_address")
    settled_at = None if pending else moment(at["settled_at"])
    fields = {name: str(address) for name, address in key.items()} | {
        "escrow_pda": str(escrow), "bump": bump, "state": state, "merchant_pda": str(merchant),
        "vault_token_account": str(vault), "task_hash": data[144:176].hex(), "deliveries": at["deliveries"],
        "amount_stroops": str(at["amount"]), "released_stroops": str(at["released"]),
        "refunded_stroops": "0" if pending else str(at["amount"] - at["released"]),
        "created_at": moment(at["created_at"]), "expires_at": moment(at["expires_at"]),
        "closes_at": moment(at["closes_at"]) if closed else None, "settled_at": settled_at, "settled_by": by,
        "created_seq": str(at["created_seq"]), "settled_seq": None if pending else str(at["settled_seq"]),
    }
    if not any(data[368:400]):
        fields["session_key"] = None
    need(given["escrow"] == fields and given["purpose"] == PURPOSE, "escrow_fields")

    domain = sha256(b"settlement-evidence 3\0", bytes(Pubkey.from_string(network["genesis_hash"])), bytes(custody))
    final = bytes([by == "release", 0, 0, 0])
    message = b"attest 3" + domain + terms(data) + data[216:248] + data[184:192] + data[280:288] + data[12:16] + final
    attestor, seal = str(key["attestor"]), data[288:352]
    attestation = {
        "message_hex": message.hex(), "signature": base64.b64encode(seal).decode(), "public_key": attestor,
    }
    claim = {
        "proof_hash": data[216:248].hex(), "attestor": attestor, "attested_at": moment(at["attested_at"]),
        "attestation": attestation, "claim": "asserted by the merchant's attestor",
    }
    if not at["released"]:
        claim = dict.fromkeys(claim)
    need(given["delivery_claim"] == claim | {"verification": VERIFICATION}, "delivery_claim")
    need(not at["released"] or signed(seal, bytes(key["attestor"]), message), "attestation_signature")

    need((given["as_of"] is None) != pending, "as_of")
    now = given["as_of"]["ledger_time"] if pending else None
    status, reason = decided(state, by, closed, pending and now >= moment(end))
    decision = {"status": status, "reason": reason, "settled_at": settled_at}
    need(given["settlement_decision"] == decision, "settlement_decision")
    need(not pending or now >= moment(since), "as_of")


def failing(text, trust):
    packet = json.loads(text)
    try:
        check_service(packet, trust)
        check_data(packet["data"])
    except Failed as check:
        return str(check)
    return None


with open(sys.argv[1], encoding="utf-8") as trusted:
    policy = json.load(trusted)
print(json.dumps([failing(text, policy) for text in json.load(sys.stdin)]))
