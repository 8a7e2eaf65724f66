import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Address } from "../../core/domain/address.ts";
import {
  callRecordBytes,
  requireDelivered,
  requireFollows,
} from "../sessions/store/call-record.ts";
import { type Frame, sessionFrames } from "../sessions/store/session-frames.ts";
import {
  closes,
  countOf,
  isLater,
  isNewer,
  isNext,
  newSession,
  type SessionState,
  sessionUnknown,
  tallyIn,
  withCall,
  withShown,
} from "../sessions/store/session-state.ts";
import { NOT_BEGUN, type SessionStore } from "../sessions/store/session-store.ts";
import { AppendLog, damaged } from "./append-log.ts";
import { bornByFile, keepBorn } from "./born-file.ts";
import { useExclusively } from "./exclusive-use.ts";
import { FOLDER_MODE, syncFolder } from "./file-journal.ts";
import {
  callsInFrames,
  readingFrames,
  saveFrames,
  sessionInFile,
  unusable,
} from "./session-files.ts";
import { type HeldSession, heldSession, journalFrames, JournalReplay } from "./sessions-journal.ts";

const JOURNAL_MAGIC = "sejourn2";
const JOURNAL_BYTES = 8_388_608;

/** How a folder of sessions is opened. */
export type FileSessionsOptions = {
  /** Whether it is a copy from a backup whose files do not give that away, as a machine's snapshot is. */
  readonly restored?: boolean;
  /** From how many bytes on the journal is folded into the sessions' own files; 8 MiB by default. */
  readonly journalBytes?: number;
};

/** A store that has to be left, so that another process can have what it holds. */
export type HeldSessions = SessionStore & {
  /** Ends this process's use of the store once what was asked for is done. */
  readonly stop: () => Promise<void>;
};

/**
 * A store of sessions in a folder, for one process. Calls of all sessions are appended to one journal, synced in groups;
 * each session has a file of its own, into which the journal is folded when it is long. In memory are only the sessions
 * that go on and what is not folded yet. A copy of the folder knows that it is one, and answers no call of the sessions
 * of before. @throws SettlementError `store_in_use`, `store_damaged`, `store_unusable`
 * @example
 * import { fileSessions } from "settlement-evidence/node";
 *
 * const store = await fileSessions(`${folder}/sessions`);
 * await store.unfinished(); // => []
 * await store.stop();
 */
export const fileSessions = async (
  folder: string,
  { restored = false, journalBytes = JOURNAL_BYTES }: FileSessionsOptions = {},
): Promise<HeldSessions> => {
  const release = await useExclusively(join(folder, "lock"));
  const own = join(folder, "sessions");
  const journalPath = join(folder, "journal");
  const pathOf = (escrow: Address): string => join(own, `${escrow}.calls`);
  try {
    const names = await mkdir(own, { recursive: true, mode: FOLDER_MODE })
      .then(async () => [...(await readdir(folder)), ...(await readdir(own))])
      .catch((cause: unknown) => {
        throw unusable(own, cause);
      });
    const replay = new JournalReplay();
    const kept = await readingFrames(journalPath, () =>
      AppendLog.open(journalPath, JOURNAL_MAGIC, (frame) => replay.take(frame)),
    );
    // It is made first. What a crash left of a making has neither.
    const isFresh = kept === undefined && !names.some((name) => /^born$|\.calls$/.test(name));
    if (kept === undefined && !isFresh && !restored) throw damaged(journalPath, "it is missing");
    const journal = kept ?? (await AppendLog.create(journalPath, JOURNAL_MAGIC, []));
    const sessions = await readingFrames(journalPath, async () => replay.sessions());
    const bornPath = join(folder, "born");
    const born = await bornByFile(bornPath, restored).catch((cause: unknown) => {
      throw unusable(folder, cause);
    });
    const keep = (at: bigint): Promise<void> =>
      keepBorn(bornPath, at).catch((cause: unknown) => {
        throw unusable(folder, cause);
      });
    return sessionsIn({ sessions, journal, journalBytes, born, keep, own, pathOf, release });
  } catch (cause) {
    release();
    throw cause;
  }
};

type Opened = {
  readonly sessions: Map<Address, HeldSession>;
  readonly journal: AppendLog;
  readonly journalBytes: number;
  readonly born: bigint;
  /** Keeps another beginning. */
  readonly keep: (born: bigint) => Promise<void>;
  readonly own: string;
  readonly pathOf: (escrow: Address) => string;
  readonly release: () => void;
};

const sessionsIn = (opened: Opened) => {
  const { sessions, journal, journalBytes, own, pathOf, release } = opened;
  let { born } = opened;
  journal.folding = {
    atBytes: journalBytes,
    frames: async () => {
      const unsaved = Array.from(sessions).filter(([, held]) => held.unsaved.length > 0);
      const lengths = new Map<HeldSession, number>();
      for (const [escrow, held] of unsaved)
        lengths.set(held, await saveFrames(pathOf(escrow), held.length, held.unsaved));
      await syncFolder(own);
      for (const [held, length] of lengths) {
        held.length = length;
        held.unsaved = [];
      }
      for (const [escrow, { state, isReserved }] of sessions)
        if (state.isEnded && !isReserved) sessions.delete(escrow);
      return Array.from(sessions.values(), journalFrames.standing);
    },
  };
  /** A session that goes on, or a finished one out of its own file. */
  const keptOf = async (escrow: Address): Promise<HeldSession | null> => {
    const held = sessions.get(escrow);
    if (held !== undefined) return held;
    const own = await sessionInFile(pathOf(escrow));
    return own && heldSession(own.state, own.length);
  };
  /** The same, of which something is asked: a finished one is held again. */
  const heldOf = async (escrow: Address): Promise<HeldSession> => {
    const kept = await keptOf(escrow);
    if (kept === null) throw sessionUnknown(escrow);
    if (sessions.get(escrow) === kept) return kept;
    await journal.append(journalFrames.standing(kept), true, () => {
      if (!sessions.has(escrow)) sessions.set(escrow, kept);
    });
    return sessions.get(escrow) ?? kept;
  };
  const inTurn = async <T>(
    escrow: Address,
    work: (held: HeldSession) => Promise<T>,
  ): Promise<T> => {
    const held = await heldOf(escrow);
    const turn = held.last.then(() => work(held));
    held.last = turn.catch(() => undefined);
    return turn;
  };
  /** Keeps a frame of a session, on disk, and then what follows from it. */
  const keep = (
    held: HeldSession,
    frame: Frame,
    changes: Partial<SessionState>,
    inJournal: Frame = journalFrames.other(held.state.session.escrow, frame),
  ): Promise<void> =>
    journal.append(inJournal, true, () => {
      held.state = { ...held.state, ...changes };
      held.unsaved.push(frame);
    });
  const begin = async (at: bigint): Promise<void> => {
    await opened.keep(at);
    born = at;
  };
  const store: HeldSessions = {
    begin: async (finalizedTime) => {
      if (born === NOT_BEGUN) await begin(await finalizedTime());
    },
    open: async (session) => {
      const { escrow } = session;
      if ((await keptOf(escrow)) !== null) return;
      const frame = sessionFrames.opened(session);
      await journal.append(frame, true, () => {
        if (sessions.has(escrow)) return;
        sessions.set(escrow, heldSession(newSession(session), 0, [frame]));
      });
    },
    find: async (escrow) => {
      const kept = await keptOf(escrow);
      if (kept === null) return null;
      const { session, newest, closing, final, staged } = kept.state;
      return { session, newest, closing, final, staged, isRestored: session.createdAt < born };
    },
    unfinished: async () =>
      Array.from(sessions.values())
        .filter(({ state }) => !state.isEnded)
        .map(({ state }) => state.session),
    reserve: (escrow, count) =>
      inTurn(escrow, async (held) => {
        if (held.isReserved) return "busy";
        if (!isNext(held.state, count)) return "behind";
        held.isReserved = true;
        return held.state.staged === null ? "reserved" : "staged";
      }),
    drop: (escrow) =>
      inTurn(escrow, async (held) => {
        held.isReserved = false;
      }),
    stage: (staged) =>
      inTurn(staged.voucher.escrow, async (held) => {
        if (!held.isReserved || !isNext(held.state, staged.voucher.count)) return false;
        requireDelivered(tallyIn(held.state), staged);
        await journal.append(journalFrames.staged(staged), true, () => {
          held.state = { ...held.state, staged };
        });
        return true;
      }),
    append: (call, answer) =>
      inTurn(call.voucher.escrow, async (held) => {
        if (!held.isReserved || !isNext(held.state, call.voucher.count)) return false;
        requireFollows(tallyIn(held.state), call);
        const frame = sessionFrames.called(callRecordBytes(call));
        const inJournal = journalFrames.called(call.voucher.escrow, frame, answer);
        await keep(held, frame, withCall(held.state, call, answer), inJournal);
        held.isReserved = false;
        return true;
      }),
    answer: async (escrow, count) => {
      const { state } = await heldOf(escrow);
      return countOf(state) === count ? state.answer : null;
    },
    adopt: (head) =>
      inTurn(head.voucher.escrow, async (held) => {
        if (held.isReserved || !isLater(held.state, head)) return false;
        await keep(held, sessionFrames.adopted(head), withShown(held.state, head));
        return true;
      }),
    close: (voucher) =>
      inTurn(voucher.escrow, async (held) => {
        const closed = closes(held.state, voucher);
        if (closed === "before") return true;
        if (held.isReserved || closed === "refused") return false;
        await keep(held, sessionFrames.closing(voucher), { closing: voucher });
        return true;
      }),
    finish: (escrow, final) =>
      inTurn(escrow, async (held) => {
        if (isNewer(held.state, final)) await keep(held, sessionFrames.final(final), { final });
      }),
    distrust: async (before) => {
      if (before > born) await begin(before);
    },
    end: (escrow) =>
      inTurn(escrow, async (held) => {
        if (!held.state.isEnded) await keep(held, sessionFrames.ended(), { isEnded: true });
      }),
    calls: async function* (escrow, from) {
      const kept = await keptOf(escrow);
      if (kept === null) throw sessionUnknown(escrow);
      const { length, state, unsaved } = kept;
      yield* callsInFrames({ path: pathOf(escrow), length, unsaved: unsaved.slice(), state }, from);
    },
    stop: async () => {
      await journal.close();
      release();
    },
  };
  return store;
};
