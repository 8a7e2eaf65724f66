"""Buys calls out of a session by the package x402 of PyPI, unmodified, with the scheme `delivery-session` of docs/x402.md.

It is ../sessions-python/buyer.py, driven in the same way, whose vouchers go out and whose receipts come back by x402.
"""

import base64
import json

import requests
from x402.http.utils import decode_payment_required_header, decode_payment_response_header

from x402_payment import NETWORK, paying, require
from buyer import LIMIT, MERCHANT, MINT, Session, run, text
from session_service import CUSTODY, Refused


class CallScheme:
    """Puts the voucher of the call that is under way into its payment, if the offer is of this session's seller."""

    scheme = "delivery-session"

    def __init__(self):
        self.carried, self.attestor = None, None

    def create_payment_payload(self, requirements):
        offer = requirements.model_dump(by_alias=True, exclude_none=True)
        asked = (offer["network"], offer["asset"], offer["payTo"], offer["extra"]["custody"])
        require(asked == (NETWORK, str(MINT), str(MERCHANT), str(CUSTODY)), "another_seller")
        require(offer["extra"]["attestor"] == self.attestor and int(offer["amount"]) <= LIMIT, "offer_refused")
        return dict(self.carried)


def refusal_in(answer):
    """What a seller's answer says against a call; None where it says nothing."""
    header = answer.headers.get("payment-required")
    offers = decode_payment_required_header(header).accepts if header else []
    told = answer.headers.get("payment-response")
    extras = [offer.extra or {} for offer in offers] + ([decode_payment_response_header(told).extra or {}] if told else [])
    return next((extra["refusal"] for extra in extras if "refusal" in extra), None)


class X402Session(Session):
    def __init__(self, journal):
        self.scheme = CallScheme()
        _, self.http = paying(self.scheme)
        super().__init__(journal)
        self.scheme.attestor = str(self.escrow.attestor)

    def send(self, url, voucher, head=None):
        self.scheme.carried = {"voucher": text(voucher.pack()), **({"head": text(head.pack())} if head else {})}
        try:
            # The payload that is attested has the bytes before any decoding.
            answer = self.http.get(url, headers={"accept-encoding": "identity"}, allow_redirects=False, timeout=60)
        except requests.RequestException:
            return None
        refusal = refusal_in(answer)
        if refusal is not None:
            return refusal["status"], {"settlement-head": refusal.get("head")}, answer.content, refusal["code"]
        header = answer.headers.get("payment-response")
        if header is None:
            raise Refused("not_paid", f"it answered {answer.status_code} without PAYMENT-RESPONSE")
        extra = decode_payment_response_header(header).extra or {}
        if not extra.get("isWrapped"):
            receipt = {"settlement-receipt": extra.get("receipt")}
            return extra.get("status", answer.status_code), receipt, answer.content, None
        wrapped = json.loads(answer.content)
        return wrapped["status"], dict(wrapped["headers"]), base64.b64decode(wrapped["body"]), None


run(X402Session)
