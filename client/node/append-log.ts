import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { SettlementError } from "../settlement-error.ts";
import { FILE_MODE, syncFolder } from "./file-journal.ts";
import { FIRST_FRAME, formOf, FrameForm, framesIn, isTornAt } from "./frames.ts";
import type { Frame } from "../sessions/store/session-frames.ts";
import { errorCode } from "./key-file.ts";

/** A frame that waits to be written. */
type Waiting = {
  readonly frame: Frame;
  /** Whether it must survive the end of the machine, not only of the process. */
  readonly isSynced: boolean;
  readonly applied: () => void;
  readonly failed: (cause: unknown) => void;
};

/** How a log is begun anew once it is long. */
export type Folding = {
  /** From how many bytes on. */
  readonly atBytes: number;
  /** Everything that the frames so far say, in fewer. No frame is written meanwhile. */
  readonly frames: () => Promise<ReadonlyArray<Frame>>;
};

const unusable = (path: string, cause: unknown): SettlementError =>
  new SettlementError(
    "store_unusable",
    `${path} cannot be written (${errorCode(cause)}).`,
    "Make room, or name another place that you may write to. What was refused is not kept.",
    { cause },
  );

/** The failure of a file that does not hold what was written into it. */
export const damaged = (path: string, what: string, cause?: unknown): SettlementError =>
  new SettlementError(
    "store_damaged",
    `${path} is damaged: ${what}.`,
    "Restore it from a copy, and say that it is restored. The other side's record closes its sessions.",
    cause === undefined ? {} : { cause },
  );

/** Writes a new file whole, under another name, and gives it opened. @throws the system's errors. */
const drafted = async (path: string, bytes: Uint8Array): Promise<FileHandle> => {
  const draft = `${path}.new`;
  await unlink(draft).catch(() => undefined);
  const file = await open(draft, "wx+", FILE_MODE);
  try {
    await file.writeFile(bytes);
    await file.sync();
    return file;
  } catch (cause) {
    await file.close();
    await unlink(draft).catch(() => undefined);
    throw cause;
  }
};

/** Gives what was drafted its name, on disk when this resolves. @throws the system's errors. */
const placed = async (path: string): Promise<void> => {
  await rename(`${path}.new`, path);
  await syncFolder(dirname(path));
};

/**
 * A file of frames that one process appends to. Frames that wait at the same time are written by one write and one
 * `fdatasync`. What a crash cut off is gone at the next opening; damage is not.
 */
export class AppendLog {
  readonly #path: string;
  readonly #magic: string;
  #file: FileHandle;
  #form: FrameForm;
  #end: number;
  /** How many bytes are known to survive the end of the machine. */
  #durable: number;
  #folding: Folding | null = null;
  #waiting: Array<Waiting> = [];
  #running: Promise<void> | null = null;
  /** Why nothing is written any more. */
  #broken: SettlementError | null = null;

  private constructor(path: string, magic: string, file: FileHandle, form: FrameForm, end: number) {
    this.#path = path;
    this.#magic = magic;
    this.#file = file;
    this.#form = form;
    this.#end = end;
    this.#durable = end;
  }

  /** A new log of some frames, in place of a file of its name. @throws SettlementError `store_unusable` */
  static async create(
    path: string,
    magic: string,
    frames: ReadonlyArray<Frame>,
  ): Promise<AppendLog> {
    const { begin, form } = FrameForm.fresh(magic);
    const bytes = Buffer.concat([begin, form.bytes(frames, FIRST_FRAME, 0)]);
    try {
      const file = await drafted(path, bytes);
      await placed(path);
      return new AppendLog(path, magic, file, form, bytes.length);
    } catch (cause) {
      throw unusable(path, cause);
    }
  }

  /**
   * The log at `path`, which tells its frames in order; undefined where there is no file. @throws SettlementError
   * `store_damaged` or `store_unusable`, or what `tell` throws.
   */
  static async open(
    path: string,
    magic: string,
    tell: (frame: Frame) => void | Promise<void>,
  ): Promise<AppendLog | undefined> {
    const file = await open(path, "r+").catch((cause: unknown) => {
      if (errorCode(cause) === "ENOENT") return undefined;
      throw unusable(path, cause);
    });
    if (file === undefined) return undefined;
    try {
      const form = await formOf(file, magic);
      if (form === undefined) throw damaged(path, "it does not begin as it must");
      const { size } = await file.stat();
      let end = FIRST_FRAME;
      for await (const frame of framesIn(file, form, size)) {
        await tell(frame);
        end = frame.end;
      }
      if (end < size) {
        if (!(await isTornAt(file, form, end, size)))
          throw damaged(path, `what was written at ${end} was changed`);
        await file.truncate(end);
      }
      await file.datasync();
      return new AppendLog(path, magic, file, form, end);
    } catch (cause) {
      await file.close();
      throw cause instanceof Error && "syscall" in cause ? unusable(path, cause) : cause;
    }
  }

  /** Folds the log from now on, whenever it is long. */
  set folding(folding: Folding) {
    this.#folding = folding;
  }

  /** Bytes that the log has. */
  get length(): number {
    return this.#end;
  }

  /**
   * Appends a frame. Resolves once it is written, and is on disk where `isSynced` asks for that; `applied` is called
   * before any later frame is written. @throws SettlementError `store_unusable`; then it is not kept.
   */
  append(frame: Frame, isSynced: boolean, applied: () => void = () => undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({
        frame,
        isSynced,
        applied: () => {
          applied();
          resolve();
        },
        failed: reject,
      });
      this.#running ??= this.#run();
    });
  }

  /** Ends the use of the file once what waits is written. */
  async close(): Promise<void> {
    await this.#running;
    this.#broken ??= new SettlementError(
      "store_unusable",
      `${this.#path} is closed.`,
      "Open it again.",
    );
    await this.#file.close();
  }

  async #run(): Promise<void> {
    // What is asked for in the same turn belongs to the same group.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#write(group);
        for (const { applied } of group) applied();
      } catch (cause) {
        for (const { failed } of group) failed(cause);
      }
      if (this.#folding !== null && this.#end >= this.#folding.atBytes) await this.#fold();
    }
    this.#running = null;
  }

  async #write(group: ReadonlyArray<Waiting>): Promise<void> {
    if (this.#broken !== null) throw this.#broken;
    const frames = group.map(({ frame }) => frame);
    const bytes = this.#form.bytes(frames, this.#end, this.#durable);
    try {
      let written = 0;
      while (written < bytes.length)
        written += (
          await this.#file.write(bytes, written, bytes.length - written, this.#end + written)
        ).bytesWritten;
    } catch (cause) {
      const failure = unusable(this.#path, cause);
      await this.#file.truncate(this.#end).catch(() => {
        this.#broken = failure;
      });
      throw failure;
    }
    if (group.some(({ isSynced }) => isSynced)) {
      // After a failed sync nobody knows what is on disk, and a second sync would not tell.
      await this.#file.datasync().catch((cause: unknown) => {
        this.#broken = unusable(this.#path, cause);
        throw this.#broken;
      });
      this.#durable = this.#end + bytes.length;
    }
    this.#end += bytes.length;
  }

  /** A log that cannot be folded goes on as it is, and is tried again once it is half as long again. */
  async #fold(): Promise<void> {
    const folding = this.#folding;
    if (folding === null || this.#broken !== null) return;
    const { begin, form } = FrameForm.fresh(this.#magic);
    const draft = await folding
      .frames()
      .then(async (frames) => {
        const bytes = Buffer.concat([begin, form.bytes(frames, FIRST_FRAME, 0)]);
        return { file: await drafted(this.#path, bytes), length: bytes.length };
      })
      .catch(() => null);
    if (draft === null) {
      this.#folding = { ...folding, atBytes: Math.ceil(this.#end * 1.5) };
      return;
    }
    await placed(this.#path).catch((cause: unknown) => {
      // Which of both files has the name is not known.
      this.#broken = unusable(this.#path, cause);
    });
    const before = this.#file;
    this.#file = draft.file;
    this.#form = form;
    this.#end = draft.length;
    this.#durable = draft.length;
    // What is kept of every session must not make each append a folding.
    this.#folding = { ...folding, atBytes: Math.max(folding.atBytes, 3 * draft.length) };
    await before.close();
  }
}
