import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import type { Address } from "../../../core/domain/address.ts";
import { RecentlyUsed } from "../../../core/domain/recently-used.ts";
import { callAttestationBytes } from "../../../core/protocol/calls/call-receipt.ts";
import { callVoucherBytes } from "../../../core/protocol/calls/call-voucher.ts";
import { type SessionHead, sessionHeadBytes } from "../../../core/protocol/calls/session-head.ts";
import { callRecordBytes, requireDelivered, requireFollows } from "./call-record.ts";
import {
  answerBytes,
  readAnswer,
  readAttestation,
  readHead,
  readStaged,
  readVoucher,
  sessionText,
  stagedBytes,
} from "./kept-bytes.ts";
import { countOf, newSession, sessionUnknown, tallyIn } from "./session-state.ts";
import { sessionFrames, SessionReplay } from "./session-frames.ts";
import type { KeptSession, SessionStore } from "./session-store.ts";
import {
  beginOnce,
  noticeCopy,
  numberIn,
  readingRow,
  type SessionSql,
  sessionIn,
  type SqlRow,
  type SqlSessionsOptions,
  textIn,
} from "./session-tables.ts";

/** How long a process is taken to live after it last said so, and how often it says so, milliseconds. */
const LEASE_MS = 10_000;
const RENEWAL_MS = 2000;
const PAGE = 256;

/** Whether nobody who lives holds the session; `$2` is this process. */
const IS_FREE = `(holder IS NULL OR holder = $2 OR NOT EXISTS (SELECT 1 FROM settlement_processes p WHERE p.id = holder AND p.held_until > :now))`;

/** A store that has to be left, so that its reservations are free at once. */
export type LeasedSessions = SessionStore & {
  /** Ends this process's part in the store. */
  readonly stop: () => Promise<void>;
};

/** What bytes of a row say; null where there are none. */
const bytesIn = <A>(row: SqlRow, name: string, read: (bytes: Uint8Array) => A): A | null => {
  const hex = textIn(row, name);
  return hex === null ? null : read(hexToBytes(hex));
};

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
      `SELECT s.id, s.escrow, s.session, s.count, hex(s.head) AS head, hex(s.closing) AS closing, hex(s.final) AS final, hex(s.staged) AS staged, (SELECT born FROM settlement_store) AS born, CASE WHEN ${IS_FREE} THEN 1 ELSE 0 END AS free FROM settlement_sessions s WHERE s.escrow = $1`,
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
  /** This process's reservation of the call of a number; null where it has none. */
  const reservedFor = async (escrow: Address, count: number) => {
    const reserved = mine.get(escrow) ?? null;
    if (reserved === null) await known(escrow);
    return reserved !== null && countOf({ newest: reserved.head }) === count - 1 ? reserved : null;
  };
  /** The answer for a session of which this process has a call under way. */
  const busy = async (escrow: Address): Promise<false> => {
    await known(escrow);
    return false;
  };

  return {
    begin: (finalizedTime) => beginOnce(sql, finalizedTime),
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
      const session = sessionIn(row);
      return readingRow(escrow, () => {
        const newest = headIn(session, textIn(row, "head"));
        const isRestored = session.createdAt < BigInt(String(row["born"]));
        return {
          session,
          newest,
          closing: bytesIn(row, "closing", readVoucher),
          final: bytesIn(row, "final", readAttestation),
          staged: bytesIn(row, "staged", (bytes) => readStaged(tallyIn({ newest }), escrow, bytes)),
          isRestored,
        };
      });
    },
    unfinished: () =>
      sql
        .read(`SELECT escrow, session FROM settlement_sessions WHERE ended = 0 ORDER BY id`, [])
        .then((rows) => rows.map(sessionIn)),
    reserve: async (escrow, count) => {
      if (mine.has(escrow)) return "busy";
      mine.set(escrow, null);
      try {
        const number = ++reservations;
        const [row] = await sql.write(
          `UPDATE settlement_sessions SET holder = $2, reservation = $3 WHERE escrow = $1 AND count = $4 AND closing IS NULL AND ${IS_FREE} RETURNING escrow, session, hex(head) AS head, CASE WHEN staged IS NULL THEN 0 ELSE 1 END AS waits`,
          [escrow, me, number, count - 1],
        );
        if (row !== undefined) {
          const session = sessionIn(row);
          const head = readingRow(escrow, () => headIn(session, textIn(row, "head")));
          mine.set(escrow, { number, head });
          return numberIn(row, "waits") === 1 ? "staged" : "reserved";
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
    stage: async (call) => {
      const { escrow, count } = call.voucher;
      const reserved = await reservedFor(escrow, count);
      if (reserved === null) return false;
      requireDelivered(tallyIn({ newest: reserved.head }), call);
      const staged = await sql.write(
        `UPDATE settlement_sessions SET staged = $5::bytes WHERE escrow = $1 AND holder = $2 AND reservation = $3 AND count = $4 - 1 AND closing IS NULL RETURNING count`,
        [escrow, me, reserved.number, count, bytesToHex(stagedBytes(call))],
      );
      return staged.length > 0;
    },
    append: async (call, answer) => {
      const { voucher, receipt } = call;
      const { escrow, count } = voucher;
      const reserved = await reservedFor(escrow, count);
      if (reserved === null) return false;
      const before = tallyIn({ newest: reserved.head });
      requireFollows(before, call);
      const newest = { voucher, receipt, before };
      const hex = bytesToHex(sessionHeadBytes(newest));
      const isKept = await sql.record(
        `UPDATE settlement_sessions SET count = $4, head = $5::bytes, answer = $6::bytes, staged = NULL, holder = NULL WHERE escrow = $1 AND holder = $2 AND reservation = $3 AND count = $4 - 1 AND closing IS NULL`,
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
      if (numberIn(row, "count") !== count) return null;
      return readingRow(escrow, () => bytesIn(row, "answer", readAnswer));
    },
    adopt: async (head) => {
      const { escrow, count } = head.voucher;
      if (mine.has(escrow)) return busy(escrow);
      const hex = bytesToHex(sessionHeadBytes(head));
      const isKept = await sql.record(
        `UPDATE settlement_sessions SET count = $3, head = $4::bytes, answer = NULL, staged = NULL, holder = NULL WHERE escrow = $1 AND count < $3 AND closing IS NULL AND ${IS_FREE}`,
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
        `UPDATE settlement_sessions SET closing = $4::bytes, holder = NULL WHERE escrow = $1 AND count = $3 AND closing IS NULL AND staged IS NULL AND ${IS_FREE} RETURNING count`,
        [escrow, me, count, bytesToHex(callVoucherBytes(voucher))],
      );
      if (closed.length > 0) return true;
      const row = await known(escrow);
      return readingRow(escrow, () => bytesIn(row, "closing", readVoucher))?.count === count;
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
      const replay = new SessionReplay(newSession(sessionIn(row)));
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
          const call = readingRow(escrow, () => replay.take(frame, from));
          if (call !== null) yield call;
        }
        if (rows.length === 0) break;
      }
      readingRow(escrow, () => {
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
