"""The bytes of a session: its escrow, both trees, vouchers, receipts and records.

After docs/protocol.md ("Escrow account", "Attestation", "Calls of a session").
"""

import base64
import hashlib
import json
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from session_service import CUSTODY, TRUST, anchor, derived
from solders.pubkey import Pubkey
from solders.signature import Signature

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))
from escrow_terms import terms as terms_of  # noqa: E402

DOMAIN = hashlib.sha256(
    b"settlement-evidence 3\0" + bytes(Pubkey.from_string(TRUST["genesis_hash"])) + bytes(CUSTODY)
).digest()


#: 9999-12-31T23:59:59Z
LAST_SECOND = 253_402_300_799


def signed_by(key, message, signature):
    """By the rules of the ledger's precompile: strict, as solders verifies."""
    return Signature.from_bytes(signature).verify(key, message)


@dataclass(frozen=True)
class Escrow:
    """A session's escrow out of its account's bytes ("Escrow account")."""

    address: Pubkey
    data: bytes

    @staticmethod
    def read(address, account):
        """The escrow in an account; None for anything else. The address must be the one that its fields derive."""
        if account is None or account[0] != str(CUSTODY) or len(account[1]) != 416:
            return None
        data = account[1]
        if data[:9] != anchor("account", "Escrow") + b"\3":
            return None
        if derived(CUSTODY, b"escrow", data[16:48], data[144:176]) != address:
            return None
        return Escrow(address, data)

    def key(self, at):
        return Pubkey.from_bytes(self.data[at : at + 32])

    def number(self, at):
        return struct.unpack_from("<q", self.data, at)[0]

    state = property(lambda self: self.data[10])
    merchant = property(lambda self: self.key(48))
    mint = property(lambda self: self.key(80))
    amount = property(lambda self: struct.unpack_from("<Q", self.data, 176)[0])
    released = property(lambda self: struct.unpack_from("<Q", self.data, 184)[0])
    created_at = property(lambda self: self.number(192))
    expires_at = property(lambda self: self.number(200))
    attestor = property(lambda self: self.key(248))
    session_key = property(lambda self: self.key(368))
    closes_at = property(lambda self: self.number(408))
    end = property(lambda self: self.closes_at or self.expires_at)
    terms = property(lambda self: terms_of(self.data))


def edge_after(edge, size, leaf):
    """The roots of the perfect subtrees, largest first, after one more leaf (RFC 6962, section 2.1)."""
    roots, node = list(edge), hashlib.sha256(b"\0" + leaf).digest()
    while size & 1:
        node = hashlib.sha256(b"\1" + roots.pop() + node).digest()
        size >>= 1
    return (*roots, node)


def root_of(edge):
    if not edge:
        return hashlib.sha256(b"").digest()
    *left, root = edge
    for each in reversed(left):
        root = hashlib.sha256(b"\1" + each + root).digest()
    return root


@dataclass(frozen=True)
class Tally:
    """Where a session stands after some calls."""

    count: int = 0
    total: int = 0
    orders: tuple = ()
    deliveries: tuple = ()

    def after(self, order, delivery):
        return Tally(
            self.count + 1,
            struct.unpack_from("<Q", delivery, 72)[0],
            edge_after(self.orders, self.count, order),
            edge_after(self.deliveries, self.count, delivery),
        )


def task_hash(method, url, body, nonce):
    intent = f"{method} {url} sha256:{hashlib.sha256(body).hexdigest()}"
    return hashlib.sha256(f"{intent}\0{nonce.hex()}".encode()).digest()


def order_leaf(task, limit):
    return task + struct.pack("<Q", limit)


def delivery_leaf(task, proof, price, total, at):
    return task + proof + struct.pack("<QQq", price, total, at)


def instant(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def proof_hash(task, url, status, body, at):
    """Of the payload that both sides make of an answer. All its texts are ASCII, so that RFC 8785 is sorted JSON.

    None for a second that RFC 3339 has no four digits of a year for.
    """
    if not 0 <= at <= LAST_SECOND:
        return None
    payload = {
        "proof_template_id": "api-delivered-v1",
        "task_hash": task.hex(),
        "network": TRUST["genesis_hash"],
        "request_url": url,
        "status_code": status,
        "content_sha256": hashlib.sha256(body).hexdigest(),
        "delivered_at": instant(at),
    }
    return hashlib.sha256(json.dumps(payload, sort_keys=True, separators=(",", ":")).encode()).digest()


@dataclass(frozen=True)
class Voucher:
    escrow: bytes
    orders: bytes
    total: int
    count: int
    closing: int
    limit: int
    nonce: bytes
    signature: bytes = bytes(64)

    def message(self, terms):
        ends = struct.pack("<QIB3x", self.total, self.count, self.closing)
        return b"voucher3" + DOMAIN + terms + self.orders + ends

    def pack(self):
        head = b"sevouch3" + self.escrow + self.orders + struct.pack("<QIB3xQ", self.total, self.count, self.closing, self.limit)
        return head + self.nonce + self.signature

    @staticmethod
    def parse(data):
        if len(data) != 176 or data[:8] != b"sevouch3" or data[84] > 1 or any(data[85:88]):
            return None
        if data[84] and any(data[88:112]):
            return None
        total, count, closing, limit = struct.unpack_from("<QIB3xQ", data, 72)
        return Voucher(data[8:40], data[40:72], total, count, closing, limit, data[96:112], data[112:])


@dataclass(frozen=True)
class Attestation:
    deliveries: bytes
    total: int
    timestamp: int
    count: int
    final: int
    signature: bytes = bytes(64)

    def message(self, terms):
        ends = struct.pack("<QqIB3x", self.total, self.timestamp, self.count, self.final)
        return b"attest 3" + DOMAIN + terms + self.deliveries + ends

    def pack(self):
        ends = struct.pack("<QqIB3x", self.total, self.timestamp, self.count, self.final)
        return self.deliveries + ends + self.signature

    @staticmethod
    def parse(data):
        if len(data) != 120 or data[52] > 1 or any(data[53:56]):
            return None
        return Attestation(data[:32], *struct.unpack_from("<QqIB3x", data, 32), data[56:])


@dataclass(frozen=True)
class Receipt:
    leaf: bytes
    attestation: Attestation

    price = property(lambda self: struct.unpack_from("<Q", self.leaf, 64)[0])
    total = property(lambda self: struct.unpack_from("<Q", self.leaf, 72)[0])
    at = property(lambda self: struct.unpack_from("<q", self.leaf, 80)[0])

    def pack(self):
        return b"sereceip" + self.leaf + self.attestation.pack()

    @staticmethod
    def parse(data):
        if len(data) != 216 or data[:8] != b"sereceip":
            return None
        attestation = Attestation.parse(data[96:])
        return attestation and Receipt(data[8:96], attestation)

    def fault(self, escrow, tally, task, limit, proof):
        """Why an agent takes no receipt of a call, None for a good one. `tally` is before the call."""
        attested, after = self.attestation, tally.after(order_leaf(task, limit), self.leaf)
        if self.leaf[:32] != task:
            return "receipt_of_another_call"
        if self.price > limit:
            return "price_above_limit"
        if self.total != tally.total + self.price or attested.total != self.total:
            return "another_total"
        if attested.count != after.count or attested.final or attested.timestamp != self.at:
            return "receipt_of_another_call"
        if attested.deliveries != root_of(after.deliveries):
            return "receipt_of_another_call"
        if self.leaf[32:64] != proof:
            return "another_payload"
        if not signed_by(escrow.attestor, attested.message(escrow.terms), attested.signature):
            return "receipt_not_signed"
        return None


@dataclass(frozen=True)
class Head:
    """The newest record of a session, and where the session stood before it."""

    voucher: Voucher
    receipt: Receipt
    before: Tally

    @property
    def after(self):
        order = order_leaf(self.receipt.leaf[:32], self.voucher.limit)
        return self.before.after(order, self.receipt.leaf)

    def pack(self):
        edges = b"".join(self.before.orders + self.before.deliveries)
        return self.voucher.pack() + self.receipt.pack() + edges

    @staticmethod
    def parse(data):
        voucher, receipt = Voucher.parse(data[:176]), Receipt.parse(data[176:392])
        if voucher is None or receipt is None or voucher.count == 0:
            return None
        ones = (voucher.count - 1).bit_count()
        if len(data) != 392 + 64 * ones or receipt.price > receipt.total:
            return None
        hashes = tuple(data[at : at + 32] for at in range(392, len(data), 32))
        before = Tally(voucher.count - 1, receipt.total - receipt.price, hashes[:ones], hashes[ones:])
        return Head(voucher, receipt, before)

    @staticmethod
    def proved(escrow, data):
        """The record in bytes of the other side; None unless both signatures and all of it agree."""
        head = Head.parse(data)
        if head is None:
            return None
        voucher, before, task = head.voucher, head.before, head.receipt.leaf[:32]
        orders = root_of(edge_after(before.orders, before.count, order_leaf(task, voucher.limit)))
        is_ordered = (
            voucher.escrow == bytes(escrow.address)
            and not voucher.closing
            and voucher.total == before.total + voucher.limit <= escrow.amount
            and voucher.orders == orders
            and signed_by(escrow.session_key, voucher.message(escrow.terms), voucher.signature)
        )
        proof = head.receipt.leaf[32:64]
        wrong = head.receipt.fault(escrow, before, task, voucher.limit, proof)
        return head if is_ordered and wrong is None else None


def unbase64(text):
    """The bytes of canonical base64; empty for any other text."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return b""
    return data if base64.b64encode(data).decode() == text else b""
