import { concatBytes } from "@noble/hashes/utils.js";
import { type FileHandle, mkdir, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Address } from "../../core/domain/address.ts";
import { SettlementError } from "../settlement-error.ts";
import { callRecordBytes, requireFollows } from "../sessions/store/call-record.ts";
import { answerBytes, readAnswer, readState, stateBytes } from "../sessions/store/kept-bytes.ts";
import { packedBytes, packedNumber, PackedReader } from "../sessions/store/packed-bytes.ts";
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
import type { SentAnswer, SessionStore } from "../sessions/store/session-store.ts";
import { AppendLog, damaged } from "./append-log.ts";
import { bornByFile, keepBorn } from "./born-file.ts";
import { useExclusively } from "./exclusive-use.ts";
import { FILE_MODE, FOLDER_MODE, syncFolder } from "./file-journal.ts";
import { FIRST_FRAME, formOf, FrameForm, framesIn } from "./frames.ts";
import { errorCode } from "./key-file.ts";
import {
  escrowAndRest,
  type Frame,
  isCall,
  ofEscrow,
  openedIn,
  sessionFrames,
  SessionReplay,
} from "../sessions/store/session-frames.ts";

const JOURNAL_MAGIC = "sejourn1";
const SESSION_MAGIC = "sesessn1";
/** Beside the kinds of a session's own frames: all that is kept of one, from which the journal goes on. */
const STANDING = 16;
const JOURNAL_BYTES = 8_388_608;

/** How a folder of sessions is opened. */
export type FileSessionsOptions = {
  /** Whether it is a copy from a backup whose files do not give that away, as a machine's snapshot is. */
  readonly restored?: boolean;
  /** From how many bytes on the journal is folded into the sessions' own files; 8 MiB by default. */
  readonly journalBytes?: number;
  /** Milliseconds since 1970; the machine's by default. */
  readonly nowMs?: () => number;
};

/** A store that has to be left, so that another process can have what it holds. */
export type HeldSessions = SessionStore & {
  /** Ends this process's use of the store once what was asked for is done. */
  readonly stop: () => Promise<void>;
};

type Held = {
  state: SessionState;
  isReserved: boolean;
  /** Bytes of the session's own file that count. */
  length: number;
  /** Frames that its own file does not have yet. */
  unsaved: Array<Frame>;
  /** What was asked for last; one thing is done at a time. */
  last: Promise<unknown>;
};

const heldOf = (state: SessionState, length: number): Held => ({
  state,
  isReserved: false,
  length,
  unsaved: [],
  last: Promise.resolve(),
});

const unusable = (path: string, cause: unknown): SettlementError =>
  new SettlementError(
    "store_unusable",
    `${path} cannot be used (${errorCode(cause)}).`,
    "Name a folder that you may write to, on a disk with room.",
    { cause },
  );

const NONE = new Uint8Array();

/** A call with its answer: one frame, so that none is there without the other. */
const answeredBytes = (record: Uint8Array, answer: SentAnswer | null): Uint8Array =>
  concatBytes(
    packedBytes(record),
    packedNumber(answer === null ? 0 : 1),
    answer === null ? NONE : answerBytes(answer),
  );

const readAnswered = (bytes: Uint8Array): readonly [record: Uint8Array, SentAnswer | null] => {
  const reader = new PackedReader(bytes);
  const record = reader.bytes();
  const hasAnswer = reader.number() === 1;
  const rest = reader.rest();
  return [record, hasAnswer ? readAnswer(rest) : null];
};

const standingFrame = ({ state, length }: Held): Frame => ({
  kind: STANDING,
  payload: concatBytes(packedNumber(length), stateBytes(state)),
});

/** Reads the journal's frames of all sessions. */
const replay = () => {
  const sessions = new Map<Address, { held: Held; replay: SessionReplay }>();
  const put = (state: SessionState, length: number): void => {
    // Two that asked at once may both have written it.
    if (sessions.has(state.session.escrow)) return;
    sessions.set(state.session.escrow, {
      held: heldOf(state, length),
      replay: new SessionReplay(state),
    });
  };
  return {
    take: (frame: Frame): void => {
      if (frame.kind === STANDING) {
        const reader = new PackedReader(frame.payload);
        const length = reader.number();
        put(readState(reader.rest()), length);
        return;
      }
      const session = openedIn(frame);
      if (session !== undefined) {
        if (sessions.has(session.escrow)) return;
        put(newSession(session), 0);
        sessions.get(session.escrow)?.held.unsaved.push(frame);
        return;
      }
      const [escrow, rest] = escrowAndRest(frame.payload);
      const each = sessions.get(escrow);
      if (each === undefined) throw new RangeError(`nothing opens the session of ${escrow}`);
      const { held } = each;
      const [payload, answer] = isCall(frame) ? readAnswered(rest) : [rest, held.state.answer];
      const own = { kind: frame.kind, payload };
      each.replay.take(own);
      held.unsaved.push(own);
      held.state = { ...held.state, answer };
    },
    sessions: (): Map<Address, Held> => {
      const all = new Map<Address, Held>();
      for (const [escrow, { held, replay }] of sessions) {
        const { answer } = held.state;
        const state = replay.state();
        const isAnswers = state.newest !== null && !replay.isShown;
        all.set(escrow, { ...held, state: { ...state, answer: isAnswers ? answer : null } });
      }
      return all;
    },
  };
};

/** A session's own file, opened for a piece of work; what `use` gives for none is null. */
const withFile = async <T>(
  path: string,
  use: (file: FileHandle, form: FrameForm) => Promise<T>,
): Promise<T | null> => {
  const file = await open(path, "r").catch((cause: unknown) => {
    if (errorCode(cause) === "ENOENT") return null;
    throw unusable(path, cause);
  });
  if (file === null) return null;
  try {
    const form = await formOf(file, SESSION_MAGIC);
    if (form === undefined) throw damaged(path, "it does not begin as it must");
    return await use(file, form);
  } finally {
    await file.close();
  }
};

/** All frames of a session's own file up to a length. @throws SettlementError `store_damaged` when some are missing. */
const ownFrames = async function* (
  path: string,
  file: FileHandle,
  form: FrameForm,
  length: number,
): AsyncGenerator<Frame> {
  let end = FIRST_FRAME;
  for await (const frame of framesIn(file, form, length)) {
    end = frame.end;
    yield frame;
  }
  if (end !== length)
    throw damaged(path, `${length - end} bytes at ${end} are not what was written`);
};

/** Does what reads a file's frames, and names the file where they are not what they must be. */
const reading = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof SyntaxError)
      throw damaged(path, cause.message, cause);
    throw cause;
  }
};

/** A finished session out of its own file, and the file's length; null where there is none. */
const finished = (path: string): Promise<Held | null> =>
  reading(path, () =>
    withFile(path, async (file, form) => {
      const { size } = await file.stat();
      let session: SessionReplay | undefined;
      for await (const frame of ownFrames(path, file, form, size)) {
        if (session === undefined) session = SessionReplay.from(frame);
        else session.take(frame);
      }
      if (session === undefined) throw damaged(path, "no session is in it");
      return heldOf(session.state(), size);
    }),
  );

/** Adds frames to a session's own file, on disk when this resolves with its new length. */
const saved = async (path: string, { length, unsaved }: Held): Promise<number> => {
  const file = await open(path, length === 0 ? "w+" : "r+", FILE_MODE);
  try {
    const { begin, form } =
      length === 0
        ? FrameForm.fresh(SESSION_MAGIC)
        : { begin: NONE, form: await formOf(file, SESSION_MAGIC) };
    if (form === undefined) throw damaged(path, "it does not begin as it must");
    const from = length + begin.length;
    const bytes = Buffer.concat([begin, form.bytes(unsaved, from, from)]);
    await file.truncate(length);
    let written = 0;
    while (written < bytes.length)
      written += (await file.write(bytes, written, bytes.length - written, length + written))
        .bytesWritten;
    await file.datasync();
    return length + bytes.length;
  } finally {
    await file.close();
  }
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
  { restored = false, journalBytes = JOURNAL_BYTES, nowMs = Date.now }: FileSessionsOptions = {},
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
    const frames = replay();
    const found = await reading(journalPath, () =>
      AppendLog.open(journalPath, JOURNAL_MAGIC, frames.take),
    );
    // It is made first. What a crash left of a making has neither.
    const isFresh = found === undefined && !names.some((name) => /^born$|\.calls$/.test(name));
    if (found === undefined && !isFresh && !restored) throw damaged(journalPath, "it is missing");
    const journal = found ?? (await AppendLog.create(journalPath, JOURNAL_MAGIC, []));
    const sessions = await reading(journalPath, () => Promise.resolve(frames.sessions()));
    const bornPath = join(folder, "born");
    const born = await bornByFile(bornPath, nowMs(), {
      isFresh,
      isRestored: restored,
    }).catch((cause: unknown) => {
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
  readonly sessions: Map<Address, Held>;
  readonly journal: AppendLog;
  readonly journalBytes: number;
  readonly born: bigint;
  /** Keeps a later birth. */
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
      const lengths = new Map<Held, number>();
      for (const [escrow, held] of unsaved) lengths.set(held, await saved(pathOf(escrow), held));
      await syncFolder(own);
      for (const [held, length] of lengths) {
        held.length = length;
        held.unsaved = [];
      }
      for (const [escrow, { state, isReserved }] of sessions)
        if (state.isEnded && !isReserved) sessions.delete(escrow);
      return Array.from(sessions.values(), standingFrame);
    },
  };
  /** A session that goes on, or a finished one that is asked for something again. */
  const known = async (escrow: Address): Promise<Held> => {
    const held = sessions.get(escrow);
    if (held !== undefined) return held;
    const old = await finished(pathOf(escrow));
    if (old === null) throw sessionUnknown(escrow);
    await journal.append(standingFrame(old), true, () => {
      if (!sessions.has(escrow)) sessions.set(escrow, old);
    });
    return sessions.get(escrow) ?? old;
  };
  const inTurn = async <T>(escrow: Address, work: (held: Held) => Promise<T>): Promise<T> => {
    const held = await known(escrow);
    const turn = held.last.then(() => work(held));
    held.last = turn.catch(() => undefined);
    return turn;
  };
  /** Keeps a frame of a session, on disk, and then what follows from it. */
  const keep = (
    held: Held,
    frame: Frame,
    changes: Partial<SessionState>,
    payload: Uint8Array = frame.payload,
  ): Promise<void> => {
    const { escrow } = held.state.session;
    return journal.append({ kind: frame.kind, payload: ofEscrow(escrow, payload) }, true, () => {
      held.state = { ...held.state, ...changes };
      held.unsaved.push(frame);
    });
  };
  const store: HeldSessions = {
    open: async (session) => {
      const { escrow } = session;
      if (sessions.has(escrow) || (await finished(pathOf(escrow))) !== null) return;
      const frame = sessionFrames.opened(session);
      await journal.append(frame, true, () => {
        if (sessions.has(escrow)) return;
        sessions.set(escrow, { ...heldOf(newSession(session), 0), unsaved: [frame] });
      });
    },
    find: async (escrow) => {
      const kept = sessions.get(escrow) ?? (await finished(pathOf(escrow)));
      if (kept === null) return null;
      const { session, newest, closing, final } = kept.state;
      return { session, newest, closing, final, isRestored: session.createdAt < born };
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
        return "reserved";
      }),
    drop: (escrow) =>
      inTurn(escrow, async (held) => {
        held.isReserved = false;
      }),
    append: (call, answer) =>
      inTurn(call.voucher.escrow, async (held) => {
        if (!held.isReserved || !isNext(held.state, call.voucher.count)) return false;
        requireFollows(tallyIn(held.state), call);
        const record = callRecordBytes(call);
        const { newest } = withCall(held.state, call, null);
        await keep(
          held,
          sessionFrames.called(record),
          { newest, answer },
          answeredBytes(record, answer),
        );
        held.isReserved = false;
        return true;
      }),
    answer: async (escrow, count) => {
      const { state } = await known(escrow);
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
      if (before <= born) return;
      await opened.keep(before);
      born = before;
    },
    end: (escrow) =>
      inTurn(escrow, async (held) => {
        if (!held.state.isEnded) await keep(held, sessionFrames.ended(), { isEnded: true });
      }),
    calls: async function* (escrow, from) {
      const kept = sessions.get(escrow) ?? (await finished(pathOf(escrow)));
      if (kept === null) throw sessionUnknown(escrow);
      const { length, state } = kept;
      const unsaved = kept.unsaved.slice();
      const path = pathOf(escrow);
      const all = async function* (): AsyncGenerator<Frame> {
        if (length > 0) {
          const file = await open(path, "r");
          try {
            const form = await formOf(file, SESSION_MAGIC);
            if (form === undefined) throw damaged(path, "it does not begin as it must");
            yield* ownFrames(path, file, form, length);
          } finally {
            await file.close();
          }
        }
        yield* unsaved;
      };
      let session: SessionReplay | undefined;
      const take = (frame: Frame) => {
        if (session === undefined) {
          session = SessionReplay.from(frame);
          return null;
        }
        return session.take(frame, from);
      };
      for await (const frame of all()) {
        const call = await reading(path, async () => take(frame));
        if (call !== null) yield call;
      }
      const now = await reading(path, async () => session?.state());
      if (now === undefined || countOf(now) !== countOf(state))
        throw damaged(path, `it does not end with call ${countOf(state)}`);
    },
    stop: async () => {
      await journal.close();
      release();
    },
  };
  return store;
};
