import { type FileHandle, open } from "node:fs/promises";
import { SettlementError } from "../settlement-error.ts";
import { type Frame, SessionReplay } from "../sessions/store/session-frames.ts";
import { countOf, type SessionState } from "../sessions/store/session-state.ts";
import type { KeptCall } from "../sessions/store/session-store.ts";
import { damaged } from "./append-log.ts";
import { FILE_MODE } from "./file-journal.ts";
import { FIRST_FRAME, formOf, FrameForm, framesIn } from "./frames.ts";
import { errorCode } from "./key-file.ts";

/** What a file of one session's frames begins with. */
const SESSION_MAGIC = "sesessn2";

/** The failure of a file or folder that the system does not let be used. */
export const unusable = (path: string, cause: unknown): SettlementError =>
  new SettlementError(
    "store_unusable",
    `${path} cannot be used (${errorCode(cause)}).`,
    "Name a folder that you may write to, on a disk with room.",
    { cause },
  );

/** Does what reads a file's frames, and names the file where they are not what they must be. */
export const readingFrames = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof RangeError || cause instanceof SyntaxError)
      throw damaged(path, cause.message, cause);
    throw cause;
  }
};

/** A file whose beginning is read. @throws SettlementError `store_damaged` for one that begins otherwise. */
const formIn = async (path: string, file: FileHandle): Promise<FrameForm> => {
  const form = await formOf(file, SESSION_MAGIC);
  if (form === undefined) throw damaged(path, "it does not begin as it must");
  return form;
};

/** All frames of a session's own file up to a length. @throws SettlementError `store_damaged` when some are missing. */
const framesUpTo = async function* (
  path: string,
  file: FileHandle,
  length: number,
): AsyncGenerator<Frame> {
  let end = FIRST_FRAME;
  for await (const frame of framesIn(file, await formIn(path, file), length)) {
    end = frame.end;
    yield frame;
  }
  if (end !== length)
    throw damaged(path, `${length - end} bytes at ${end} are not what was written`);
};

/** A session out of its own file, and the file's length; null where there is none. @throws SettlementError */
export const sessionInFile = async (
  path: string,
): Promise<{ readonly state: SessionState; readonly length: number } | null> => {
  const file = await open(path, "r").catch((cause: unknown) => {
    if (errorCode(cause) === "ENOENT") return null;
    throw unusable(path, cause);
  });
  if (file === null) return null;
  try {
    return await readingFrames(path, async () => {
      const { size } = await file.stat();
      let session: SessionReplay | undefined;
      for await (const frame of framesUpTo(path, file, size)) {
        if (session === undefined) session = SessionReplay.from(frame);
        else session.take(frame);
      }
      if (session === undefined) throw damaged(path, "no session is in it");
      return { state: session.state(), length: size };
    });
  } finally {
    await file.close();
  }
};

/**
 * Adds frames to a session's own file, of which `length` bytes count; 0 makes it. On disk when this resolves with the
 * new length.
 */
export const saveFrames = async (
  path: string,
  length: number,
  frames: ReadonlyArray<Frame>,
): Promise<number> => {
  const file = await open(path, length === 0 ? "w+" : "r+", FILE_MODE);
  try {
    const { begin, form } =
      length === 0
        ? FrameForm.fresh(SESSION_MAGIC)
        : { begin: new Uint8Array(), form: await formIn(path, file) };
    const from = length + begin.length;
    const bytes = Buffer.concat([begin, form.bytes(frames, from, from)]);
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

/** What is kept of a session: the first bytes of its own file, as many as are given, then the frames that the file lacks. */
export type SessionFrames = {
  readonly path: string;
  readonly length: number;
  readonly unsaved: ReadonlyArray<Frame>;
  /** Where the session stands after the last of them. */
  readonly state: SessionState;
};

const allFrames = async function* ({
  path,
  length,
  unsaved,
}: SessionFrames): AsyncGenerator<Frame> {
  if (length > 0) {
    const file = await open(path, "r");
    try {
      yield* framesUpTo(path, file, length);
    } finally {
      await file.close();
    }
  }
  yield* unsaved;
};

/** The calls of a session from a number on, in order. @throws SettlementError `store_damaged` */
export const callsInFrames = async function* (
  frames: SessionFrames,
  from: number,
): AsyncGenerator<KeptCall> {
  const { path, state } = frames;
  let session: SessionReplay | undefined;
  const take = (frame: Frame): KeptCall | null => {
    if (session !== undefined) return session.take(frame, from);
    session = SessionReplay.from(frame);
    return null;
  };
  for await (const frame of allFrames(frames)) {
    const call = await readingFrames(path, async () => take(frame));
    if (call !== null) yield call;
  }
  const end = await readingFrames(path, async () => session?.state());
  if (end === undefined || countOf(end) !== countOf(state))
    throw damaged(path, `it does not end with call ${countOf(state)}`);
};
