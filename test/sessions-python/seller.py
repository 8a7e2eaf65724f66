"""A seller of sessions in Python, after docs/sessions.md and docs/protocol.md, driven as "Test a seller or a buyer" says.

A call is judged, delivered, attested and kept under the write lock of the store.
"""

import base64
import json
import os
import signal
import sqlite3
import sys
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from seller_store import ATTESTOR, LEAST_SECONDS, LEDGER, MERCHANT, MINT, No, Store
from session_service import (
    ASSOCIATED,
    CUSTODY,
    ED25519,
    ENV,
    Refused,
    TRUST,
    TryAgain,
    anchor,
    checked,
    keypair,
    landed,
    service,
)
from session_wire import (
    Attestation,
    Head,
    Receipt,
    Voucher,
    delivery_leaf,
    edge_after,
    instant,
    order_leaf,
    proof_hash,
    root_of,
    signed_by,
    task_hash,
    unbase64,
)
from solders.pubkey import Pubkey

PAYER = keypair("PAYER_KEY")
PRICE, ORIGIN = int(ENV["PRICE_UNITS"]), ENV["ORIGIN"]
ROUND_SECONDS = 3
MOST_UNCAPTURED, MOST_FINAL_AGE = 900, 200
WORTH = 1_000_000
PRIVATE = "private, no-store, no-transform"
STATUS = {
    "invalid_voucher": 400, "invalid_request": 400, "limit_below_price": 402, "session_unknown": 402,
    "session_ended": 402, "budget_exceeded": 402, "session_busy": 409, "call_delivered": 409, "agent_is_behind": 409,
    "seller_is_behind": 409, "another_total": 422, "another_order": 422, "voucher_not_signed": 422,
    "session_restored": 503, "ledger_out_of_reach": 503, "store_unusable": 503,
}  # fmt: skip


def attested(escrow, tally, at, final):
    claim = Attestation(root_of(tally.deliveries), tally.total, at, tally.count, final)
    return replace(claim, signature=bytes(ATTESTOR.sign_message(claim.message(escrow.terms))))


def closing_answer(escrow, kept, voucher):
    tally = kept.tally
    if (voucher.count, voucher.total, voucher.orders) != (tally.count, tally.total, root_of(tally.orders)):
        raise No("agent_is_behind" if voucher.count <= tally.count else "seller_is_behind", "other calls", kept.head)
    if kept.closing is None:
        kept.set(closing=voucher.pack())
    final = kept.final
    if final is None:
        final = attested(escrow, tally, max(LEDGER.time(), escrow.created_at), 1)
        kept.set(final=final.pack())
    shown = {"closed": True, "deliveries": final.deliveries.hex(), "total_stroops": str(final.total)}
    shown |= {"count": final.count, "timestamp": final.timestamp}
    shown["attestation_signature"] = base64.b64encode(final.signature).decode()
    return 200, {"content-type": "application/json"}, json.dumps(shown).encode()


def paid(kept, body):
    receipt = base64.b64encode(kept.head.receipt.pack()).decode()
    return 200, {"content-type": "text/plain", "settlement-receipt": receipt}, body


def answered(store, method, target, header, shown, body):
    """The answer to a request with a voucher."""
    voucher = Voucher.parse(unbase64(header))
    if voucher is None:
        raise No("invalid_voucher", "Settlement-Voucher is no voucher.")
    escrow, refusal = LEDGER.session(Pubkey.from_bytes(voucher.escrow))
    if escrow is None:
        raise refusal
    if not signed_by(escrow.session_key, voucher.message(escrow.terms), voucher.signature):
        raise No("voucher_not_signed", "The session key did not sign it.")
    peer = Head.proved(escrow, unbase64(shown or ""))
    is_restored = store.born > escrow.created_at
    with store.session(escrow) as kept:
        if peer is not None and kept.closing is None and peer.voucher.count > kept.tally.count:
            # The peer is ahead: calls of this store are lost. They are captured, and no other is signed.
            kept.set(head=peer.pack(), body=None, owed=int(LEDGER.time()))
            kept.head, is_restored = peer, True
            if store.born <= escrow.created_at:
                kept.db.execute("UPDATE born SET at = ?", (escrow.created_at + 1,))
                store.born = escrow.created_at + 1
    if is_restored:
        raise No("session_restored", "This store may have lost calls. Close the session on the ledger.")
    with store.session(escrow) as kept:
        tally, head = kept.tally, kept.head
        if voucher.closing:
            return closing_answer(escrow, kept, voucher)
        url = ORIGIN + target
        task = task_hash(method, url, body, voucher.nonce)
        order = order_leaf(task, voucher.limit)
        if voucher.count > tally.count + 1:
            raise No("seller_is_behind", f"The newest record here is of call {tally.count}.")
        if voucher.count < tally.count or voucher.count == 0:
            raise No("agent_is_behind", f"The newest record is of call {tally.count}.", head)
        if voucher.count == tally.count:
            is_same = order == order_leaf(head.receipt.leaf[:32], head.voucher.limit)
            if is_same and voucher.orders == root_of(tally.orders) and kept.body is not None:
                return paid(kept, kept.body)
            raise No("call_delivered", f"Call {tally.count} was delivered.", head)
        if voucher.total > escrow.amount:
            raise No("budget_exceeded", "The budget is smaller.")
        if voucher.total != tally.total + voucher.limit:
            raise No("another_total", f"{tally.total} were taken before.")
        if voucher.orders != root_of(edge_after(tally.orders, tally.count, order)):
            raise No("another_order", "The orders are not those so far and this request's.")
        if kept.closing is not None:
            raise No("session_ended", "The session is closed.", head)
        if refusal is not None:
            raise refusal
        if voucher.limit < PRICE:
            raise No("limit_below_price", f"The call costs {PRICE}.")
        answer, at = f"quote {target}".encode(), max(LEDGER.time(), escrow.created_at)
        leaf = delivery_leaf(task, proof_hash(task, url, 200, answer, at), PRICE, tally.total + PRICE, at)
        after = tally.after(order, leaf)
        kept.head = Head(voucher, Receipt(leaf, attested(escrow, after, at, 0)), tally)
        record = kept.head
        kept.set(head=record.pack(), body=answer, owed=kept.owed or LEDGER.time())
        kept.head = record
    return paid(kept, answer)


def offer(target):
    whole = {"x402Version": 2, "error": "The request carries no Settlement-Voucher.", "resource": {"url": ORIGIN + target}}
    extra = {"custody": str(CUSTODY), "attestor": str(ATTESTOR.pubkey()), "minSessionSeconds": LEAST_SECONDS}
    terms = {"scheme": "delivery-session", "network": "solana:" + TRUST["genesis_hash"][:32], "amount": str(PRICE)}
    terms |= {"asset": str(MINT), "payTo": str(MERCHANT), "maxTimeoutSeconds": 60, "extra": extra}
    body = json.dumps({**whole, "accepts": [terms]}).encode()
    return 402, {"content-type": "application/json", "payment-required": base64.b64encode(body).decode()}, body


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    store = None

    def log_message(self, *_):
        pass

    def do_any(self):
        length = self.headers.get("content-length") or "0"
        body = self.rfile.read(int(length)) if length.isdigit() else b""
        header = self.headers.get("settlement-voucher")
        try:
            if self.command == "OPTIONS":
                answer = 204, {}, b""
            elif header is None or self.command == "HEAD":
                answer = offer(self.path)
            else:
                shown = self.headers.get("settlement-head")
                answer = answered(self.store, self.command, self.path, header, shown, body)
        except No as no:
            answer = self.problem(no)
        status, headers, body = answer
        self.send_response(status)
        for name, value in {**headers, "cache-control": PRIVATE, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def problem(self, no):
        status = STATUS[no.code]
        headers = {"content-type": "application/problem+json"}
        if no.head is not None:
            headers["settlement-head"] = base64.b64encode(no.head.pack()).decode()
        if status == 503:
            headers["retry-after"] = "1"
        whole = {"type": "about:blank", "status": status, "code": no.code, "detail": str(no)}
        return status, headers, json.dumps(whole).encode()

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = do_any


def carried(voucher, attestation):
    shown = {"orders": voucher.orders.hex(), "total_stroops": str(voucher.total), "count": voucher.count}
    shown |= {"closing": bool(voucher.closing), "signature": base64.b64encode(voucher.signature).decode()}
    claim = {"proof_hash": attestation.deliveries.hex(), "timestamp": instant(attestation.timestamp)}
    claim |= {"amount_stroops": str(attestation.total), "deliveries": attestation.count, "voucher": shown}
    claim["attestation_signature"] = base64.b64encode(attestation.signature).decode()
    return {**claim, "payer": str(PAYER.pubkey())}


def land(escrow, operation, name, voucher, attestation, more=()):
    path = f"/v1/escrows/{escrow.address}/{operation}/prepare?transaction=true"
    status, answer = service(path, carried(voucher, attestation))
    if status != 200:
        raise Refused(answer.get("code", operation), str(answer), status)
    parts = [attestation.message(escrow.terms), attestation.signature, voucher.message(escrow.terms), voucher.signature]
    names = [anchor("global", each) for each in (name, *more)]

    def expected(program, data, keys):
        if program == ED25519:
            return all(part in data for part in parts)
        return program == ASSOCIATED or (program == str(CUSTODY) and data[:8] in names and keys[0] == escrow.address)

    landed(checked(answer["data"]["transaction"], PAYER.pubkey(), expected), PAYER)


def settle(store, address, forced):
    """Releases a session that its agent closed, and captures what is due of another one."""
    escrow, _ = LEDGER.look(address)
    if escrow is None or escrow.state:
        with store.connected() as db:
            db.execute("UPDATE sessions SET ended = 1 WHERE escrow = ?", (str(address),))
        return
    time_now = LEDGER.time()
    with store.session(escrow) as kept:
        head, closing, final, owed = kept.head, kept.closing, kept.final, kept.owed
        if head is None or time_now >= escrow.end:
            return
        is_whole = closing is not None and store.born <= escrow.created_at
        if is_whole and (final is None or time_now - final.timestamp > MOST_FINAL_AGE):
            final = attested(escrow, kept.tally, time_now, 1)
            kept.set(final=final.pack())
    if is_whole:
        return land(escrow, "release", "release_escrow", closing, final, ("claim_refund", "return_rent"))
    debt = head.receipt.total - escrow.released
    margin = max(60, min(900, (escrow.expires_at - escrow.created_at) // 10))
    is_due = debt >= max(WORTH, escrow.amount // 3) or time_now - (owed or time_now) >= MOST_UNCAPTURED
    if debt > 0 and (forced or is_due or escrow.closes_at or time_now >= escrow.end - margin - 60):
        land(escrow, "capture", "capture", head.voucher, head.receipt.attestation)


def settle_all(store, forced):
    for address in store.unfinished():
        try:
            settle(store, address, forced)
        except (No, Refused, TryAgain, sqlite3.Error) as cause:
            print(address, cause, file=sys.stderr, flush=True)


def main():
    store = Handler.store = Store()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    ending = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ending.set())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    while not ending.wait(ROUND_SECONDS):
        settle_all(store, False)
    server.shutdown()
    settle_all(store, True)
    os._exit(0)


main()
