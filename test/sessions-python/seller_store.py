"""What a seller of sessions knows: its own view of the ledger, and what it keeps in one SQLite file, which processes share."""

import sqlite3
import struct
import threading
import time
from contextlib import contextmanager
from pathlib import Path

from session_service import (
    CLOCK,
    ENV,
    TryAgain,
    accounts,
    keypair,
    now,
    token_account,
)
from session_wire import (
    Attestation,
    Escrow,
    Head,
    Tally,
    Voucher,
)
from solders.pubkey import Pubkey

ATTESTOR = keypair("ATTESTOR_KEY")
MERCHANT, MINT = Pubkey.from_string(ENV["MERCHANT"]), Pubkey.from_string(ENV["MINT"])
STORE = Path(ENV["STORE"])
LEAST_SECONDS, LOOK_SECONDS = 600, 20


class No(Exception):
    """A refusal of a call, with the newest record where the agent goes on by it."""

    def __init__(self, code, detail, head=None):
        super().__init__(detail)
        self.code, self.head = code, head


class Ledger:
    """The seller's own view, by its own node: sessions are answered from memory between looks."""

    def __init__(self):
        self.seen, self.ahead, self.lock = {}, 0, threading.Lock()

    def time(self):
        """The ledger's: the machine's clock may be wrong by hours."""
        return int(now() + self.ahead)

    def look(self, address):
        vault = token_account(address, MINT)
        try:
            escrow, held, clock = accounts([str(address), str(vault), CLOCK])
        except TryAgain as cause:
            raise No("ledger_out_of_reach", str(cause)) from cause
        self.ahead = struct.unpack_from("<q", clock[1], 32)[0] - now()
        read = Escrow.read(address, escrow)
        units = 0 if held is None or len(held[1]) != 165 else struct.unpack_from("<Q", held[1], 64)[0]
        with self.lock:
            self.seen[address] = (read, units, time.monotonic())
        return read, units

    def session(self, address):
        """The escrow of a session that is taken, and why no further call of it is; the reason may be None."""
        with self.lock:
            read, units, at = self.seen.get(address, (None, 0, -1e9))
        if read is None or time.monotonic() - at > LOOK_SECONDS:
            read, units = self.look(address)
        if read is None:
            return None, No("session_unknown", f"{address} is no escrow on the finalized ledger.")
        taken = (read.merchant, read.mint, read.attestor) == (MERCHANT, MINT, ATTESTOR.pubkey())
        lasts = read.expires_at - read.created_at
        if not taken or lasts < LEAST_SECONDS or not any(bytes(read.session_key)):
            return None, No("session_unknown", f"{address} is no session of this seller.")
        margin = max(60, min(900, lasts // 10))
        if read.state or read.closes_at or self.time() >= read.end - margin:
            return read, No("session_ended", f"{address} takes no further call.")
        if units < read.amount - read.released:
            return read, No("session_unknown", "The vault does not hold what is left.")
        return read, None


LEDGER = Ledger()


class Store:
    """Sessions in one SQLite file. A copy of the folder is noticed by a file whose times no copy keeps."""

    def __init__(self):
        mark = STORE / "mark"
        if not mark.exists():
            mark.touch()
        stat = mark.stat()
        identity = f"{stat.st_ino} {stat.st_ctime_ns}"
        with self.connected() as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("CREATE TABLE IF NOT EXISTS born (identity TEXT, at INTEGER)")
            db.execute(
                "CREATE TABLE IF NOT EXISTS sessions (escrow TEXT PRIMARY KEY, head BLOB, body BLOB, closing BLOB,"
                " final BLOB, owed INTEGER, ended INTEGER DEFAULT 0)"
            )
            db.execute("BEGIN IMMEDIATE")
            kept = db.execute("SELECT identity, at FROM born").fetchone()
            if kept is None or kept[0] != identity:
                LEDGER.look(Pubkey.from_string(str(MERCHANT)))
                db.execute("DELETE FROM born")
                # A session that is older may have gone on elsewhere.
                db.execute("INSERT INTO born VALUES (?, ?)", (identity, LEDGER.time() - (5 if kept is None else -1)))
            self.born = db.execute("SELECT at FROM born").fetchone()[0]
            db.execute("COMMIT")

    @contextmanager
    def connected(self):
        db = sqlite3.connect(STORE / "sessions.sqlite", timeout=20, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = FULL")
            yield db
        finally:
            db.close()

    @contextmanager
    def session(self, escrow):
        """One session under the write lock. What was set in it is kept, and synced, when the block ends well."""
        try:
            with self.connected() as db:
                db.execute("BEGIN IMMEDIATE")
                try:
                    kept = Kept(db, str(escrow.address))
                    yield kept
                except BaseException:
                    db.execute("ROLLBACK")
                    raise
                db.execute("COMMIT")
        except sqlite3.Error as cause:
            raise No("store_unusable", f"The store failed: {cause}.") from cause

    def unfinished(self):
        with self.connected() as db:
            rows = db.execute("SELECT escrow FROM sessions WHERE ended = 0").fetchall()
        return [Pubkey.from_string(each) for (each,) in rows]


class Kept:
    def __init__(self, db, escrow):
        self.db, self.escrow = db, escrow
        db.execute("INSERT OR IGNORE INTO sessions (escrow) VALUES (?)", (escrow,))
        row = db.execute("SELECT head, body, closing, final, owed FROM sessions WHERE escrow = ?", (escrow,)).fetchone()
        head, self.body, closing, final, self.owed = row
        self.head = head and Head.parse(head)
        self.closing, self.final = closing and Voucher.parse(closing), final and Attestation.parse(final)

    @property
    def tally(self):
        return self.head.after if self.head else Tally()

    def set(self, **columns):
        for name, value in columns.items():
            self.db.execute(f"UPDATE sessions SET {name} = ? WHERE escrow = ?", (value, self.escrow))
            setattr(self, name, value)
