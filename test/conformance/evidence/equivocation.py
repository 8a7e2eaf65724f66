"""A verifier of files of two attestations, after docs/verify-evidence.md ("Two attestations") and docs/protocol.md.

It judges the file's own two checks, for files whose packets were verified otherwise; of a packet it needs the account
and the ledger. Arguments: the trust document, and a JSON array of vectors, each with the file in `equivocation`.
Prints a JSON array: of each file the checks that fail.
"""

import base64
import hashlib
import json
import struct
import sys
from pathlib import Path

from solders.pubkey import Pubkey
from solders.signature import Signature

sys.path.append(str(Path(__file__).resolve().parents[3] / "examples"))
from escrow_terms import terms  # noqa: E402

MEMBERS = {"version", "packet", "first_base64", "second_base64"}


class Malformed(Exception):
    """The file has another form."""


def need(holds):
    if not holds:
        raise Malformed


def once(pairs):
    need(len({name for name, _ in pairs}) == len(pairs))
    return dict(pairs)


def attestation(text):
    """Root, total, time, count and final of 120 bytes, and what was signed of them, and the signature."""
    need(isinstance(text, str))
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as cause:
        raise Malformed from cause
    need(base64.b64encode(data).decode() == text and len(data) == 120)
    need(data[52] <= 1 and not any(data[53:56]))
    total, _, count, final = struct.unpack_from("<QqIB", data, 32)
    return {"root": data[:32], "total": total, "count": count, "final": final, "signed": data[:56], "signature": data[56:]}


def read(text):
    need(len(text.encode()) <= 131_072)
    try:
        whole = json.loads(text, object_pairs_hook=once)
    except ValueError as cause:
        raise Malformed from cause
    need(isinstance(whole, dict) and set(whole) == MEMBERS and isinstance(whole["packet"], dict))
    need(whole["version"] == "settlement-evidence-equivocation-v1")
    return whole["packet"], attestation(whole["first_base64"]), attestation(whole["second_base64"])


def contradict(one, two):
    fewer, more = sorted((one, two), key=lambda each: each["count"])
    if fewer["count"] == more["count"]:
        return (fewer["root"], fewer["total"]) != (more["root"], more["total"])
    return more["total"] < fewer["total"] or fewer["final"] == 1


def failed(text, trust):
    try:
        packet, one, two = read(text)
    except Malformed:
        return ["equivocation_form"]
    account = base64.b64decode(packet["data"]["account"]["data_base64"])
    ledger = [bytes(Pubkey.from_string(trust[name])) for name in ("genesis_hash", "custody_program")]
    names = hashlib.sha256(b"settlement-evidence 3\0" + ledger[0] + ledger[1]).digest() + terms(account)
    attestor = Pubkey.from_bytes(account[248:280])
    signed = all(
        Signature.from_bytes(each["signature"]).verify(attestor, b"attest 3" + names + each["signed"])
        for each in (one, two)
    )
    is_session = any(account[368:400])
    return [] if is_session and signed and contradict(one, two) else ["equivocation"]


with open(sys.argv[1], encoding="utf-8") as trusted, open(sys.argv[2], encoding="utf-8") as vectors:
    policy = json.load(trusted)
    print(json.dumps([failed(each["equivocation"], policy) for each in json.load(vectors)]))
