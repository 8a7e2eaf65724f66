import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../../../core/domain/address.ts";
import { RecentlyUsed } from "../../../core/domain/recently-used.ts";
import { callAttestationBytes } from "../../../core/protocol/calls/call-receipt.ts";
import { callVoucherBytes } from "../../../core/protocol/calls/call-voucher.ts";
import { type SessionHead, sessionHeadBytes } from "../../../core/protocol/calls/session-head.ts";
import { SettlementError } from "../../settlement-error.ts";
import { callRecordBytes, requireFollows } from "./call-record.ts";
import {
  answerBytes,
  readAnswer,
  readAttestation,
  readHead,
  readSession,
  readVoucher,
  sessionText,
} from "./kept-bytes.ts";
import { newSession, sessionUnknown, tallyIn } from "./session-state.ts";
import { sessionFrames, SessionReplay } from "./session-frames.ts";
import type { KeptSession, SessionStore } from "./session-store.ts";

/** A value of a row, or of a statement: bytes are hexadecimal text in both. */
export type SqlValue = string | number | null;
/** A row as every driver gives it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * What a database does for a store of sessions. Statements are in the common language of SQLite and PostgreSQL, with
 * `$1`, `$1::bytes` for bytes given as hexadecimal text, `hex(column)` for bytes read so, and `:now` for the
 * database's clock in milliseconds.
 */
export type SessionSql = {
  /** Reads rows. */
  readonly read: (text: string, values: ReadonlyArray<SqlValue>) => Promise<ReadonlyArray<SqlRow>>;
  /** Changes rows by one statement, durably, and gives what it returns. */
  readonly write: (text: string, values: ReadonlyArray<SqlValue>) => Promise<ReadonlyArray<SqlRow>>;
  /** Changes a session's row, and only then inserts into its calls, both or neither. Says whether it did. */
  readonly record: (
    update: string,
    values: ReadonlyArray<SqlValue>,
    call: { readonly count: number; readonly isShown: boolean; readonly record: string },
  ) => Promise<boolean>;
  /** What a copy of the tables does not have; null where nothing tells. */
  readonly identity: () => Promise<string | null>;
};

/** The tables, made where they are missing. `bytes` is the type of bytes, `serial` that of a row's own number. */
export const sessionTables = (bytes: string, serial: string): ReadonlyArray<string> => [
  `CREATE TABLE IF NOT EXISTS settlement_store (one INTEGER PRIMARY KEY, version INTEGER NOT NULL, born BIGINT NOT NULL, identity TEXT)`,
  `CREATE TABLE IF NOT EXISTS settlement_processes (id TEXT PRIMARY KEY, held_until BIGINT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS settlement_sessions (id ${serial}, escrow TEXT NOT NULL UNIQUE, session TEXT NOT NULL, count INTEGER NOT NULL, head ${bytes}, closing ${bytes}, final ${bytes}, final_at BIGINT, answer ${bytes}, holder TEXT, reservation INTEGER, ended INTEGER NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS settlement_calls (session INTEGER NOT NULL, count INTEGER NOT NULL, shown INTEGER NOT NULL, record ${bytes} NOT NULL, PRIMARY KEY (session, count))`,
];

const VERSION = 1;
/** How long a process is taken to live after it last said so, and how often it says so, milliseconds. */
const LEASE_MS = 10_000;
const RENEWAL_MS = 2000;
/** How much later the ledger's clock may be than the database's, seconds. */
const CLOCK_MARGIN = 60;
const PAGE = 256;

/** Whether nobody who lives holds the session; `$2` is this process. */
const IS_FREE = `(holder IS NULL OR holder = $2 OR NOT EXISTS (SELECT 1 FROM settlement_processes p WHERE p.id = holder AND p.held_until > :now))`;

/** A store that has to be left, so that its reservations are free at once. */
export type LeasedSessions = SessionStore & {
  /** Ends this process's part in the store. */
  readonly stop: () => Promise<void>;
};

/** How sessions in a database are opened. */
export type SqlSessionsOptions = {
  /** Whether the database was restored from a backup that it cannot tell itself. */
  readonly restored?: boolean;
};

const textIn = (row: SqlRow, name: string): string | null => {
  const value = row[name];
  return typeof value === "string" && value !== "" ? value : null;
};

const numberIn = (row: SqlRow, name: string): number => Number(row[name]);

/** Keeps since when all sessions of the tables are in them. A copy begins anew. */
const noticeCopy = async (sql: SessionSql, isRestored: boolean): Promise<void> => {
  const identity = await sql.identity();
  await sql.write(
    `INSERT INTO settlement_store (one, version, born, identity) VALUES (1, ${VERSION}, :now / 1000, $1) ON CONFLICT (one) DO NOTHING`,
    [identity],
  );
  const [kept] = await sql.read(`SELECT version, identity FROM settlement_store`, []);
  if (kept === undefined || numberIn(kept, "version") !== VERSION)
    throw new SettlementError(
      "store_unusable",
      "The tables of sessions are of another version.",
      "Use the version that made them.",
    );
  if (!isRestored && textIn(kept, "identity") === identity) return;
  await sql.write(
    `UPDATE settlement_store SET born = :now / 1000 + ${CLOCK_MARGIN}, identity = $1`,
    [identity],
  );
};

/** Does what reads a row, and names its session where it is not what it must be. */
const reading = <T>(escrow: Address, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof RangeError) && !(cause instanceof SyntaxError)) throw cause;
    throw new SettlementError(
      "store_damaged",
      `The row of ${escrow} is damaged: ${cause.message}.`,
      "Restore the database from a copy, and say that it is restored.",
      { cause },
    );
  }
};

const sessionIn = (escrow: Address, row: SqlRow): KeptSession =>
  reading(escrow, () => readSession(textIn(row, "session") ?? ""));

/** A store of sessions in tables that processes share. */
export const sqlSessions = async (
  sql: SessionSql,
  { restored = false }: SqlSessionsOptions,
): Promise<LeasedSessions> => {
  const me = crypto.randomUUID();
  /** This process's reservations: their numbers, null while one is asked for, and where the session stands. */
  const mine = new Map<Address, { number: number; head: SessionHead | null } | null>();
  let reservations = 0;
  const renew = () =>
    sql.write(
      `INSERT INTO settlement_processes (id, held_until) VALUES ($1, :now + ${LEASE_MS}) ON CONFLICT (id) DO UPDATE SET held_until = excluded.held_until`,
      [me],
    );
  await noticeCopy(sql, restored);
  await sql.write(
    `DELETE FROM settlement_processes WHERE held_until < :now - ${60 * LEASE_MS}`,
    [],
  );
  await renew();
  const timer = setInterval(() => {
    // A renewal that fails is made up for by the next; without any, others take over.
    void Promise.all([renew(), noticeCopy(sql, false)]).catch(() => undefined);
  }, RENEWAL_MS);
  (timer as { unref?: () => void }).unref?.();

  const heads = new RecentlyUsed<Address, { readonly hex: string; readonly head: SessionHead }>(
    4096,
  );
  /** Whether a session is there already, which each call asks for first. */
  const opened = new RecentlyUsed<Address, boolean>(4096);
  /** The newest record in a row, proved unless it is the one that was read or written last. */
  const headIn = (session: KeptSession, hex: string | null): SessionHead | null => {
    if (hex === null) return null;
    const known = heads.get(session.escrow);
    if (known?.hex.toLowerCase() === hex.toLowerCase()) return known.head;
    const head = readHead(session, hexToBytes(hex));
    heads.set(session.escrow, { hex, head });
    return head;
  };
  const rowOf = async (escrow: Address): Promise<SqlRow | undefined> => {
    const [row] = await sql.read(
      `SELECT s.id, s.session, s.count, hex(s.head) AS head, hex(s.closing) AS closing, hex(s.final) AS final, (SELECT born FROM settlement_store) AS born, CASE WHEN ${IS_FREE} THEN 1 ELSE 0 END AS free FROM settlement_sessions s WHERE s.escrow = $1`,
      [escrow, me],
    );
    // A database that was put back to an earlier state does not have what it had.
    if (row === undefined) opened.set(escrow, false);
    return row;
  };
  const known = async (escrow: Address): Promise<SqlRow> => {
    const row = await rowOf(escrow);
    if (row === undefined) throw sessionUnknown(escrow);
    return row;
  };
  /** The answer for a session of which this process has a call under way. */
  const busy = async (escrow: Address): Promise<false> => {
    await known(escrow);
    return false;
  };

  return {
    open: async (session) => {
      if (opened.get(session.escrow) === true) return;
      await sql.write(
        `INSERT INTO settlement_sessions (escrow, session, count, ended) VALUES ($1, $2, 0, 0) ON CONFLICT (escrow) DO NOTHING`,
        [session.escrow, sessionText(session)],
      );
      opened.set(session.escrow, true);
    },
    find: async (escrow) => {
      const row = await rowOf(escrow);
      if (row === undefined) return null;
      const session = sessionIn(escrow, row);
      const [closing, final] = [textIn(row, "closing"), textIn(row, "final")];
      return reading(escrow, () => ({
        session,
        newest: headIn(session, textIn(row, "head")),
        closing: closing === null ? null : readVoucher(hexToBytes(closing)),
        final: final === null ? null : readAttestation(hexToBytes(final)),
        isRestored: session.createdAt < BigInt(String(row["born"])),
      }));
    },
    unfinished: async () =>
      (
        await sql.read(
          `SELECT escrow, session FROM settlement_sessions WHERE ended = 0 ORDER BY id`,
          [],
        )
      ).map((row) =>
        reading((row["escrow"] ?? "") as Address, () => readSession(textIn(row, "session") ?? "")),
      ),
    reserve: async (escrow, count) => {
      if (mine.has(escrow)) return "busy";
      mine.set(escrow, null);
      try {
        const number = ++reservations;
        const [row] = await sql.write(
          `UPDATE settlement_sessions SET holder = $2, reservation = $3 WHERE escrow = $1 AND count = $4 AND closing IS NULL AND ${IS_FREE} RETURNING session, hex(head) AS head`,
          [escrow, me, number, count - 1],
        );
        if (row !== undefined) {
          const head = reading(escrow, () =>
            headIn(readSession(textIn(row, "session") ?? ""), textIn(row, "head")),
          );
          mine.set(escrow, { number, head });
          return "reserved";
        }
      } finally {
        if (mine.get(escrow) === null) mine.delete(escrow);
      }
      return numberIn(await known(escrow), "free") === 1 ? "behind" : "busy";
    },
    drop: async (escrow) => {
      const reserved = mine.get(escrow);
      if (reserved === undefined || reserved === null) {
        await known(escrow);
        return;
      }
      mine.delete(escrow);
      await sql.write(
        `UPDATE settlement_sessions SET holder = NULL WHERE escrow = $1 AND holder = $2 AND reservation = $3`,
        [escrow, me, reserved.number],
      );
    },
    append: async (call, answer) => {
      const { voucher, receipt } = call;
      const { escrow, count } = voucher;
      const reserved = mine.get(escrow);
      if (reserved === undefined || reserved === null) {
        await known(escrow);
        return false;
      }
      const before = tallyIn({ newest: reserved.head });
      if (count !== before.count + 1) return false;
      requireFollows(before, call);
      const newest = { voucher, receipt, before };
      const hex = bytesToHex(sessionHeadBytes(newest));
      const isKept = await sql.record(
        `UPDATE settlement_sessions SET count = $4, head = $5::bytes, answer = $6::bytes, holder = NULL WHERE escrow = $1 AND holder = $2 AND reservation = $3 AND count = $4 - 1 AND closing IS NULL`,
        [
          escrow,
          me,
          reserved.number,
          count,
          hex,
          answer === null ? null : bytesToHex(answerBytes(answer)),
        ],
        { count, isShown: false, record: bytesToHex(callRecordBytes(call)) },
      );
      if (mine.get(escrow) === reserved) mine.delete(escrow);
      if (isKept) heads.set(escrow, { hex, head: newest });
      return isKept;
    },
    answer: async (escrow, count) => {
      const [row] = await sql.read(
        `SELECT count, hex(answer) AS answer FROM settlement_sessions WHERE escrow = $1`,
        [escrow],
      );
      if (row === undefined) throw sessionUnknown(escrow);
      const answer = textIn(row, "answer");
      if (numberIn(row, "count") !== count || answer === null) return null;
      return reading(escrow, () => readAnswer(hexToBytes(answer)));
    },
    adopt: async (head) => {
      const { escrow, count } = head.voucher;
      if (mine.has(escrow)) return busy(escrow);
      const hex = bytesToHex(sessionHeadBytes(head));
      const isKept = await sql.record(
        `UPDATE settlement_sessions SET count = $3, head = $4::bytes, answer = NULL, holder = NULL WHERE escrow = $1 AND count < $3 AND closing IS NULL AND ${IS_FREE}`,
        [escrow, me, count, hex],
        { count, isShown: true, record: hex },
      );
      if (!isKept) await known(escrow);
      return isKept;
    },
    close: async (voucher) => {
      const { escrow, count } = voucher;
      if (mine.has(escrow)) return busy(escrow);
      const closed = await sql.write(
        `UPDATE settlement_sessions SET closing = $4::bytes, holder = NULL WHERE escrow = $1 AND count = $3 AND closing IS NULL AND ${IS_FREE} RETURNING count`,
        [escrow, me, count, bytesToHex(callVoucherBytes(voucher))],
      );
      if (closed.length > 0) return true;
      const closing = textIn(await known(escrow), "closing");
      return (
        closing !== null && reading(escrow, () => readVoucher(hexToBytes(closing))).count === count
      );
    },
    finish: async (escrow, final) => {
      const bytes = bytesToHex(callAttestationBytes(final));
      const kept = await sql.write(
        `UPDATE settlement_sessions SET final = $2::bytes, final_at = $3 WHERE escrow = $1 AND (final IS NULL OR final_at < $3) RETURNING count`,
        [escrow, bytes, Number(final.timestamp)],
      );
      if (kept.length === 0) await known(escrow);
    },
    distrust: async (before) => {
      await sql.write(`UPDATE settlement_store SET born = $1 WHERE born < $1`, [Number(before)]);
    },
    end: async (escrow) => {
      const ended = await sql.write(
        `UPDATE settlement_sessions SET ended = 1 WHERE escrow = $1 RETURNING count`,
        [escrow],
      );
      if (ended.length === 0) throw sessionUnknown(escrow);
    },
    calls: async function* (escrow, from) {
      const row = await known(escrow);
      const until = numberIn(row, "count");
      const replay = new SessionReplay(newSession(sessionIn(escrow, row)));
      for (let after = 0; after < until;) {
        const rows = await sql.read(
          `SELECT count, shown, hex(record) AS record FROM settlement_calls WHERE session = $1 AND count > $2 AND count <= $3 ORDER BY count LIMIT ${PAGE}`,
          [numberIn(row, "id"), after, until],
        );
        for (const each of rows) {
          const payload = hexToBytes(textIn(each, "record") ?? "");
          const frame =
            numberIn(each, "shown") === 1
              ? sessionFrames.shown(payload)
              : sessionFrames.called(payload);
          after = numberIn(each, "count");
          const call = reading(escrow, () => replay.take(frame, from));
          if (call !== null) yield call;
        }
        if (rows.length === 0) break;
      }
      reading(escrow, () => {
        if ((replay.state().newest?.voucher.count ?? 0) !== until)
          throw new RangeError("calls of it are missing");
      });
    },
    stop: async () => {
      clearInterval(timer);
      await sql.write(`DELETE FROM settlement_processes WHERE id = $1`, [me]);
    },
  };
};
