"""Pays once for GET of argv[1] by the package x402 of PyPI, unmodified, with the scheme `auth-capture` of docs/x402.md.

It asks twice: the second answer comes of the same payment. It signs with solders, and only a transaction that it has taken
apart. It prints one line of JSON for each answer: its status, its text, what PAYMENT-RESPONSE says, and whether the payment had a
transaction with it.
"""

import base64
import hashlib
import json
import os
import struct
import sys
import time
from pathlib import Path

import requests
from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction
from x402 import x402ClientSync
from x402.http.clients import wrapRequestsWithPayment
from x402.http.utils import decode_payment_response_header

sys.path.append(str(Path(__file__).resolve().parents[1] / "sessions-python"))
from session_service import CUSTODY, ENV, TRUST, Refused, anchor, checked, derived, keypair, service, token_account  # noqa: E402

AGENT = keypair("AGENT_KEY")
#: How far two clocks may be apart, and the longest time of an escrow, seconds.
CLOCKS_APART, LONGEST = 60, 604_800
NETWORK = "solana:" + TRUST["genesis_hash"][:32]
TERMS = {"scheme", "network", "asset", "amount", "payTo", "maxTimeoutSeconds", "extra"}


def require(holds, code):
    if not holds:
        raise Refused(code, "this offer is not paid, and nothing was signed")


class DeliveryEscrow:
    """The buyer's side of `auth-capture`, transfer method `delivery-escrow`, for offers of one origin."""

    scheme = "auth-capture"

    def __init__(self, origin):
        self.origin, self.nonces = origin, {}

    def create_payment_payload(self, requirements):
        offer = requirements.model_dump(by_alias=True, exclude_none=True)
        extra, now = offer["extra"], time.time()
        deadline, longest = extra["captureDeadline"], offer["maxTimeoutSeconds"] + CLOCKS_APART
        require(set(offer) == TERMS and offer["network"] == NETWORK, "another_ledger")
        require(extra["custody"] == str(CUSTODY), "another_custody")
        require(extra["assetTransferMethod"] == "delivery-escrow", "invalid_requirements")
        require(extra["refundDeadline"] == deadline and extra["minFeeBps"] == extra["maxFeeBps"] == 0, "invalid_requirements")
        require(now < deadline <= now + longest, "another_clock")
        require(extra["request"].startswith(f"GET {self.origin}/"), "another_request")
        # All its texts are ASCII, so that RFC 8785 is sorted JSON.
        bound = {name: value for name, value in extra.items() if name not in ("captureDeadline", "refundDeadline")}
        text = json.dumps({**offer, "extra": bound}, sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        task = f"x402 {extra['request']} sha256:{digest}"
        # One payment for one offer: a second one would pay twice.
        nonce = self.nonces.setdefault(digest, os.urandom(16).hex())
        task_hash = hashlib.sha256(f"{task}\0{nonce}".encode()).digest()
        escrow = derived(CUSTODY, b"escrow", bytes(AGENT.pubkey()), task_hash)
        payload = {"agent": str(AGENT.pubkey()), "nonce": nonce, "escrow": str(escrow)}
        if service(f"/v1/escrows/{escrow}")[0] == 200:
            return payload
        asked = {"agent_owner": str(AGENT.pubkey()), "merchant": offer["payTo"], "mint": offer["asset"]}
        asked |= {"amount_stroops": offer["amount"], "ttl_seconds": min(longest, LONGEST), "task_intent": task, "nonce": nonce}
        asked["expires_at"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(deadline))
        status, answer = service("/v1/escrows/prepare?transaction=true", asked)
        if status != 200:
            raise Refused(answer.get("code", "prepare"), str(answer), status)
        expected = self.create_of(offer, escrow, task_hash)
        message = checked(answer["data"]["transaction"], AGENT.pubkey(), expected)
        return {**payload, "create": base64.b64encode(bytes(VersionedTransaction(message, [AGENT]))).decode()}

    def create_of(self, offer, escrow, task_hash):
        """Whether an instruction is the one `create_escrow` on these terms: attestor, no session key, and the deadline."""
        merchant, mint = Pubkey.from_string(offer["payTo"]), Pubkey.from_string(offer["asset"])
        registered = derived(Pubkey.from_string(TRUST["attestor_program"]), b"merchant", bytes(merchant))
        places = [AGENT.pubkey(), AGENT.pubkey(), merchant, registered, mint, escrow]
        places += [token_account(escrow, mint), token_account(AGENT.pubkey(), mint)]
        extra = offer["extra"]
        attestor = bytes(Pubkey.from_string(extra["captureAuthorizer"]))
        ends = struct.pack("<QqI", int(offer["amount"]), extra["captureDeadline"], 0)
        whole = anchor("global", "create_escrow") + task_hash + attestor + bytes(32) + ends
        return lambda program, data, keys: program == str(CUSTODY) and data == whole and keys[: len(places)] == places


def paying(scheme):
    """A session of requests that pays by a scheme, as x402 has it: at most PRICE_UNITS of MINT a payment."""
    allowed = {"network": NETWORK, "asset": ENV["MINT"], "max_amount_per_payment": ENV["PRICE_UNITS"]}
    client = x402ClientSync().register(NETWORK, scheme).set_spend_controls({"allowed_assets": [allowed]})
    return client, wrapRequestsWithPayment(requests.Session(), client)


def main(url):
    had = []
    client, session = paying(DeliveryEscrow(url[: url.index("/", 8)]))
    client.on_after_payment_creation(lambda made: had.append("create" in made.payment_payload.payload))
    for _ in range(2):
        answer = session.get(url, timeout=60)
        header = answer.headers.get("payment-response")
        told = header and decode_payment_response_header(header).model_dump(by_alias=True, exclude_none=True)
        print(json.dumps({"status": answer.status_code, "text": answer.text, "told": told, "created": had[-1]}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
