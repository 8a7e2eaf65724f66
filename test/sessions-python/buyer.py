"""A buyer of sessions in Python, after docs/sessions.md and docs/protocol.md, driven as "Test a seller or a buyer" says."""

import base64
import fcntl
import hashlib
import http.client
import json
import os
import re
import struct
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path

from session_service import (
    ASSOCIATED,
    CUSTODY,
    ENV,
    PASSING,
    Refused,
    TRUST,
    TryAgain,
    accounts,
    anchor,
    checked,
    derived,
    keypair,
    landed,
    request,
    service,
    token_account,
)
from session_wire import (
    Attestation,
    Escrow,
    Head,
    Receipt,
    Tally,
    Voucher,
    edge_after,
    order_leaf,
    proof_hash,
    root_of,
    signed_by,
    task_hash,
    unbase64,
)
from solders.keypair import Keypair
from solders.pubkey import Pubkey

SENDS, FIRST_PAUSE, SETTLING = 6, 0.2, 60
TASK = "Calls of a session, each ordered by a voucher of its session key."
#: Refusals after which the same call is sent again.
AGAIN = {"session_busy", "ledger_out_of_reach", "store_unusable", "attestor_unusable"}
#: The form of every code, and what a document without the members that are asked for fails with.
CODE = re.compile("[A-Za-z0-9_]{1,64}")
NO_FORM = ValueError, KeyError, TypeError, RecursionError

AGENT = keypair("AGENT_KEY")
MERCHANT, MINT = Pubkey.from_string(ENV["MERCHANT"]), Pubkey.from_string(ENV["MINT"])
LIMIT = int(ENV["PRICE_UNITS"])
BUDGET = round(float(ENV["BUDGET"]) * 1_000_000)


class Journal:
    """What the buyer keeps: one JSON file, replaced whole and synced before anything that follows from it is done."""

    def __init__(self, folder):
        self.path = Path(folder, "session.json")
        self.lock = open(Path(folder, "lock"), "a")  # noqa: SIM115
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as cause:
            raise TryAgain("another process has the journal") from cause
        self.data = json.loads(self.path.read_text()) if self.path.exists() else {}

    def keep(self, **changes):
        data = {**self.data, **changes}
        draft = self.path.with_suffix(".new")
        try:
            with open(draft, "w", encoding="utf-8") as file:
                json.dump(data, file)
                file.flush()
                os.fsync(file.fileno())
            os.rename(draft, self.path)
        except OSError as cause:
            raise TryAgain(f"the journal cannot be kept: {cause}") from cause
        self.data = data

    def bytes(self, name):
        return base64.b64decode(self.data[name]) if self.data.get(name) else None


def text(data):
    return base64.b64encode(data).decode()


def line(*words):
    print(*words, flush=True)


class Session:
    def __init__(self, journal):
        self.journal = journal
        if "seed" not in journal.data:
            journal.keep(seed=text(os.urandom(32)), nonce=str(uuid.uuid4()))
        self.key = Keypair.from_seed(journal.bytes("seed"))
        self.task = hashlib.sha256(f"{TASK}\0{journal.data['nonce']}".encode()).digest()
        address = derived(CUSTODY, b"escrow", bytes(AGENT.pubkey()), self.task)
        if "account" not in journal.data:
            self.open(address)
        self.escrow = Escrow(address, journal.bytes("account"))
        head = journal.bytes("head")
        self.head = head and Head.parse(head)

    @property
    def tally(self):
        return self.head.after if self.head else Tally()

    def expected(self, address):
        merchant = derived(Pubkey.from_string(TRUST["attestor_program"]), b"merchant", bytes(MERCHANT))
        places = [AGENT.pubkey(), AGENT.pubkey(), MERCHANT, merchant, MINT, address]
        places += [token_account(address, MINT), token_account(AGENT.pubkey(), MINT)]
        head = anchor("global", "create_escrow") + self.task
        tail = bytes(self.key.pubkey()) + struct.pack("<QqI", BUDGET, 0, int(ENV["TTL"]))
        return lambda program, data, keys: (
            program == str(CUSTODY) and data[:40] == head and data[72:] == tail and keys[: len(places)] == places
        )

    def open(self, address):
        """Opens the escrow unless it is there, and keeps its account once the own node shows it finalized."""
        [account] = accounts([str(address)])
        if account is None:
            asked = {"agent_owner": str(AGENT.pubkey()), "merchant": str(MERCHANT), "mint": str(MINT)}
            asked |= {"amount_stroops": str(BUDGET), "ttl_seconds": int(ENV["TTL"]), "task_intent": TASK}
            asked |= {"nonce": self.journal.data["nonce"], "session_key": str(self.key.pubkey())}
            status, answer = service("/v1/escrows/prepare?transaction=true", asked)
            if status == 200:
                landed(checked(answer["data"]["transaction"], AGENT.pubkey(), self.expected(address)), AGENT)
            elif status != 409:
                raise Refused(answer.get("code", "prepare"), str(answer), status)
        for _ in range(150):
            [account] = accounts([str(address)])
            escrow = Escrow.read(address, account)
            if escrow is not None:
                break
            time.sleep(0.2)
        else:
            raise TryAgain("the node does not show the escrow")
        same = (escrow.merchant, escrow.mint, escrow.amount, escrow.session_key)
        if same != (MERCHANT, MINT, BUDGET, self.key.pubkey()):
            raise Refused("another_payment", "the escrow is on other terms")
        self.journal.keep(account=text(escrow.data))

    def signed(self, voucher):
        message = voucher.message(self.escrow.terms)
        return replace(voucher, signature=bytes(self.key.sign_message(message)))

    def stop(self, code, evidence):
        """The seller broke the rules: nothing is called any more, and what it signed is kept."""
        self.journal.keep(stopped=code, evidence=evidence)
        raise Refused(code, "the session has stopped")

    def send(self, url, voucher, head=None):
        """Sends once. Gives status, headers, body and the code of a refusal; None when no answer came."""
        carried = {"settlement-voucher": text(voucher.pack())}
        if head is not None:
            carried["settlement-head"] = text(head.pack())
        try:
            status, headers, body = request(url, headers=carried)
        except (OSError, http.client.HTTPException):
            return None
        if 300 <= status < 400:
            raise Refused("redirected", "a redirect gets no voucher")
        code = None
        if headers.get("content-type", "").startswith("application/problem+json"):
            try:
                code = json.loads(body)["code"]
            except NO_FORM:
                code = None
            # It is printed, and the seller may write anything.
            if code is not None and not (isinstance(code, str) and CODE.fullmatch(code)):
                code = "unexpected_answer"
        return status, headers, body, code

    def adopt(self, value):
        """Goes on from the seller's newest record, which both signatures prove."""
        head, mine = Head.proved(self.escrow, unbase64(value or "")), self.tally
        if head is None:
            raise Refused("invalid_record", "the seller's record is not proved")
        theirs = head.after if head.voucher.count == mine.count else head.before
        if theirs.count == mine.count and root_of(theirs.deliveries) != root_of(mine.deliveries):
            self.stop("equivocation", value)
        if head.voucher.count > mine.count:
            self.journal.keep(head=text(head.pack()), pending=None)
            self.head = head
            return True
        return False

    def call(self, url):
        """One call. The same again after a failure is the same call: its voucher is kept before it is sent."""
        if self.journal.data.get("stopped"):
            raise Refused("session_stopped", self.journal.data["stopped"])
        tally, pending = self.tally, self.journal.data.get("pending")
        if pending and pending["url"] == url:
            voucher = Voucher.parse(base64.b64decode(pending["voucher"]))
        else:
            nonce = os.urandom(16)
            order = order_leaf(task_hash("GET", url, b"", nonce), LIMIT)
            orders = root_of(edge_after(tally.orders, tally.count, order))
            total = tally.total + LIMIT
            if total > self.escrow.amount:
                raise Refused("budget_exceeded")
            voucher = self.signed(Voucher(bytes(self.escrow.address), orders, total, tally.count + 1, 0, LIMIT, nonce))
            self.journal.keep(pending={"url": url, "voucher": text(voucher.pack())})
        task, shown = task_hash("GET", url, b"", voucher.nonce), None
        for sends in range(SENDS):
            time.sleep(FIRST_PAUSE * 2 ** (sends - 1) if sends else 0)
            answer = self.send(url, voucher, shown)
            if answer is None:
                continue
            status, headers, body, code = answer
            value = headers.get("settlement-receipt")
            if value is not None:
                receipt = Receipt.parse(unbase64(value))
                if receipt is None:
                    self.stop("receipt_not_signed", value)
                proof = proof_hash(task, url, status, body, receipt.at)
                fault = receipt.fault(self.escrow, tally, task, LIMIT, proof)
                if fault is not None:
                    self.stop(fault, value)
                head = Head(voucher, receipt, tally)
                self.journal.keep(head=text(head.pack()), pending=None)
                self.head = head
                return receipt.price, body
            if code == "seller_is_behind" and self.head is not None:
                shown = self.head
            elif code in ("agent_is_behind", "call_delivered"):
                is_new = self.adopt(headers.get("settlement-head"))
                if is_new and self.head.receipt.leaf[:32] == task:
                    # It was delivered and paid, and its answer is kept nowhere: nothing is risked again.
                    self.stop("answer_lost", headers.get("settlement-head"))
                if is_new:
                    raise TryAgain("the seller was ahead")
                raise Refused(code)
            elif code is not None and code not in AGAIN and status != 500:
                raise Refused(code, body.decode(errors="replace"), status)
            elif code is None and status not in PASSING and status != 500:
                raise Refused("not_paid", f"it answered {status}")
        raise TryAgain("no answer that decides")

    def closed_by_seller(self, url):
        """Whether the seller signed the end of exactly these calls."""
        for sends in range(SENDS):
            time.sleep(FIRST_PAUSE * 2 ** (sends - 1) if sends else 0)
            tally = self.tally
            nothing = 0, bytes(16)
            voucher = Voucher(bytes(self.escrow.address), root_of(tally.orders), tally.total, tally.count, 1, *nothing)
            self.journal.keep(closing=True, pending=None)
            answer = self.send(url, self.signed(voucher), self.head)
            if answer is None:
                continue
            status, headers, body, code = answer
            if code == "agent_is_behind":
                self.adopt(headers.get("settlement-head"))
            elif code is not None and code not in AGAIN:
                return False
            if status != 200:
                continue
            try:
                final = json.loads(body)
                signature = base64.b64decode(final["attestation_signature"])
                claim = Attestation(root_of(tally.deliveries), tally.total, int(final["timestamp"]), tally.count, 1)
                if signed_by(self.escrow.attestor, claim.message(self.escrow.terms), signature):
                    return True
            except NO_FORM:
                pass
        return False

    def now(self):
        [account] = accounts([str(self.escrow.address)], "confirmed")
        return Escrow.read(self.escrow.address, account)

    def land(self, operation, names):
        path = f"/v1/escrows/{self.escrow.address}/{operation}/prepare?transaction=true"
        status, answer = service(path, {"payer": str(AGENT.pubkey())})
        if status == 409:
            return
        if status != 200:
            raise Refused(answer.get("code", operation), str(answer), status)
        allowed = [anchor("global", name) for name in names]
        check = lambda program, data, keys: program == ASSOCIATED or (  # noqa: E731
            program == str(CUSTODY) and data[:8] in allowed and keys[0] == self.escrow.address
        )
        landed(checked(answer["data"]["transaction"], AGENT.pubkey(), check), AGENT)

    def close(self, url):
        """Ends the session with its seller, or else on the ledger. Safe to run again."""
        live = self.now()
        if live is not None and live.state == 0 and live.closes_at == 0:
            is_stopped = self.journal.data.get("stopped")
            if not is_stopped and self.tally.count > 0 and self.closed_by_seller(url):
                until = time.monotonic() + SETTLING
                while live is not None and live.state == 0 and time.monotonic() < until:
                    time.sleep(0.3)
                    live = self.now()
            if live is not None and live.state == 0:
                self.land("close", ["close_session"])
                live = self.now()
        if live is not None and live.state != 0:
            [vault] = accounts([str(token_account(self.escrow.address, MINT))], "confirmed")
            if vault is not None:
                self.land("refund", ["claim_refund", "return_rent"])
        is_settled = live is None or live.state != 0
        used = live.released if live is not None and is_settled else self.tally.total
        return ("settled" if is_settled else "closing"), used, self.tally.count


def main(kind):
    session = kind(Journal(ENV["JOURNAL"]))
    line("opened", session.escrow.address)
    try:
        while session.tally.count < int(ENV["CALLS"]) and not session.journal.data.get("closing"):
            number = session.tally.count + 1
            price, body = session.call(f"{ENV['SELLER_URL']}/quotes/{number}")
            line("called", number, price, hashlib.sha256(body).hexdigest())
    except Refused as cause:
        if cause.code == "session_unknown" and session.tally.count == 0:
            raise TryAgain(str(cause)) from cause
        print(cause, file=sys.stderr)
        line("refused", cause.code)
    if ENV["CLOSE"] == "1":
        line("ended", *session.close(f"{ENV['SELLER_URL']}/quotes/1"))


def run(kind):
    """Opens a session of this kind or goes on with it, makes the calls, and ends with the code that tells how it went."""
    try:
        main(kind)
    except TryAgain as cause:
        print(cause, file=sys.stderr)
        sys.exit(75)
    except Refused as cause:
        print(cause, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    run(Session)
