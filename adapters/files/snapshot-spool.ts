import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Data, Effect, Layer, Stream } from "effect";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import {
  emptySpool,
  FIRST_POSITION,
  OpenSnapshotSpool,
  type SnapshotSpool,
  type SnapshotTip,
  type SpoolPlace,
  type SpoolPosition,
} from "../../ports/index/snapshot-spool.ts";
import { Ledger, type ScannedAccounts } from "../../ports/ledger/ledger.ts";
import { makeFolderDurably } from "../bun/durable-file.ts";
import {
  decodeSpoolRecord,
  encodeSpoolRecord,
  FRAME_BYTES,
  MOST_BODY_BYTES,
  spoolBodyLength,
  type SpoolRecord,
} from "./spool-records.ts";

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** The spool's file cannot be read or written. */
class SpoolFailed extends Data.TaggedError("SpoolFailed")<{ readonly cause: unknown }> {
  override get message() {
    return textOf(this.cause);
  }
}

/** The form of the file. A file of another one is not read. */
const VERSION = 2;

type Heading = { readonly version: number; readonly ledger: string; readonly tip: SnapshotTip };

const headingText = (ledger: string, { count, frontier, slot, ledgerTime }: SnapshotTip): string =>
  JSON.stringify({
    version: VERSION,
    ledger,
    count: String(count),
    frontier: encodeBase64(frontier),
    slot: String(slot),
    ledgerTime: String(ledgerTime),
  });

const parseHeading = (text: string): Heading => {
  const { version, ledger, count, frontier, slot, ledgerTime } = JSON.parse(text) as Record<
    "ledger" | "count" | "frontier" | "slot" | "ledgerTime",
    string
  > & { readonly version: number };
  const tip = { count: BigInt(count), slot: BigInt(slot), ledgerTime: BigInt(ledgerTime) };
  return { version, ledger, tip: { ...tip, frontier: decodeBase64(frontier) ?? new Uint8Array() } };
};

/** A record and the offset of the byte after it. */
type Read = { readonly record: SpoolRecord; readonly end: number };

/** The whole records of a file from an offset on. Ends at the first one that was not written whole. */
async function* recordsOf(file: FileHandle, from: number): AsyncGenerator<Read, void> {
  const frame = Buffer.alloc(FRAME_BYTES);
  for (let at = from; ;) {
    const framed = await file.read(frame, 0, FRAME_BYTES, at);
    if (framed.bytesRead < FRAME_BYTES) return;
    const length = spoolBodyLength(frame);
    if (length === 0 || length > MOST_BODY_BYTES) return;
    const body = Buffer.alloc(length);
    const { bytesRead } = await file.read(body, 0, length, at + FRAME_BYTES);
    const record = bytesRead === length ? decodeSpoolRecord(frame, body) : undefined;
    if (record === undefined) return;
    at += FRAME_BYTES + length;
    yield { record, end: at };
  }
}

/** The position after a record. A chunk without a cursor leaves it. */
const positionAfter = (position: SpoolPosition, record: SpoolRecord): SpoolPosition => {
  if (record.kind === "ended")
    return { scan: record.place.scan, kind: record.place.kind + 1, after: null };
  if (record.kind !== "chunk" || record.chunk.next === undefined) return position;
  const { scan, kind, next } = record.chunk;
  return { scan, kind, after: next };
};

const notKept = (cause: unknown) =>
  Effect.logWarning("the snapshot goes on without keeping what it fetches", {
    cause: textOf(cause),
  });

/** The spool in an open file whose heading ends at `end`. */
const spoolIn = (
  file: FileHandle,
  path: string,
  tip: SnapshotTip,
  headingEnd: number,
): SnapshotSpool => {
  let position = FIRST_POSITION;
  let end = headingEnd;
  let isOpen = true;
  /** Runs work on the file until one fails. */
  const attempt = (work: () => Promise<void>): Effect.Effect<void> =>
    Effect.suspend(() =>
      isOpen
        ? Effect.tryPromise({ try: work, catch: (cause) => new SpoolFailed({ cause }) }).pipe(
            Effect.catch(({ cause }) => {
              isOpen = false;
              return notKept(cause);
            }),
          )
        : Effect.void,
    );
  const append = async (record: SpoolRecord, isDurable: boolean): Promise<void> => {
    const bytes = encodeSpoolRecord(record);
    await file.write(bytes, 0, bytes.length, end);
    end += bytes.length;
    if (isDurable) await file.datasync();
  };
  const readKept = async function* (): AsyncGenerator<ScannedAccounts & SpoolPlace, void> {
    for await (const read of recordsOf(file, end)) {
      end = read.end;
      position = positionAfter(position, read.record);
      if (read.record.kind === "chunk") yield read.record.chunk;
    }
    await file.truncate(end);
  };
  return {
    tip,
    kept: Stream.fromAsyncIterable(readKept(), (cause) => cause).pipe(
      Stream.catch((cause) => {
        isOpen = false;
        return Stream.fromEffectDrain(notKept(cause));
      }),
    ),
    position: Effect.sync(() => position),
    add: (place, chunk) =>
      attempt(() =>
        append({ kind: "chunk", chunk: { ...chunk, ...place } }, chunk.next !== undefined),
      ),
    ended: (place) => attempt(() => append({ kind: "ended", place }, true)),
    clear: attempt(async () => {
      isOpen = false;
      await rm(path, { force: true });
    }),
  };
};

/** Whether another process lives, also one that is stopped and goes on later. */
const lives = (pid: number): boolean => {
  try {
    return pid !== process.pid && process.kill(pid, 0);
  } catch (cause) {
    return cause instanceof Error && "code" in cause && cause.code === "EPERM";
  }
};

/** The file of one of several processes, each of which has its own. */
const fileOfProcess = (path: string, pid: number): string => `${path}-${pid}`;

/** Another process has taken the file over in between. */
const unlessGone = (cause: unknown): void => {
  if (!(cause instanceof Error && "code" in cause && cause.code === "ENOENT")) throw cause;
};

/**
 * Takes over what a process kept that has ended: its file becomes `own`, unless that is there; other files of such
 * processes are removed. A file of a process that lives is left alone: it may go on to write there.
 */
const takeOver = async (path: string, own: string): Promise<void> => {
  for (const name of await readdir(dirname(path))) {
    const file = join(dirname(path), name);
    const pid = /^-(\d+)$/.exec(file.startsWith(path) ? file.slice(path.length) : "")?.[1];
    const isLeft = pid === undefined ? file === path : !lives(Number(pid));
    if (!isLeft || file === own) continue;
    if (existsSync(own)) await rm(file, { force: true });
    else await rename(file, own).catch(unlessGone);
  }
};

const openSpool = (path: string, identity: Effect.Effect<string, unknown>, isShared: boolean) =>
  Effect.fn("openSnapshotSpool")(function* (
    tip: SnapshotTip,
    isUsable: (kept: SnapshotTip) => boolean,
  ) {
    const ledger = yield* identity;
    const own = isShared ? fileOfProcess(path, process.pid) : path;
    const opened = Effect.tryPromise({
      try: async (): Promise<FileHandle> => {
        await makeFolderDurably(dirname(path));
        await takeOver(path, own);
        // No mode by name both makes a file and writes at positions.
        await (await open(own, "a+")).close();
        return open(own, "r+");
      },
      catch: (cause) => new SpoolFailed({ cause }),
    });
    const file = yield* Effect.acquireRelease(opened, (handle) =>
      Effect.promise(() => handle.close()),
    );
    return yield* Effect.tryPromise({
      try: async () => {
        const first = await recordsOf(file, 0).next();
        if (first.done !== true && first.value.record.kind === "heading") {
          const heading = parseHeading(first.value.record.text);
          const isOurs = heading.version === VERSION && heading.ledger === ledger;
          if (isOurs && isUsable(heading.tip))
            return spoolIn(file, own, heading.tip, first.value.end);
        }
        const bytes = encodeSpoolRecord({ kind: "heading", text: headingText(ledger, tip) });
        await file.truncate(0);
        await file.write(bytes, 0, bytes.length, 0);
        return spoolIn(file, own, tip, bytes.length);
      },
      catch: (cause) => new SpoolFailed({ cause }),
    });
  });

/**
 * Keeps snapshots in the file at `path`, which nobody else may use; where several processes share it, in a file of this
 * one beside it. What an ended process kept is taken over; what was kept of another ledger or of other programs is
 * dropped.
 */
export const snapshotSpoolFile = (
  path: string,
  { custodyProgram, attestorProgram }: Deployment,
  isShared = false,
): Layer.Layer<OpenSnapshotSpool, never, Ledger> =>
  Layer.effect(
    OpenSnapshotSpool,
    Effect.map(Ledger, ({ genesisHash }) => {
      const identity = Effect.map(
        genesisHash,
        (genesis) => `${genesis} ${custodyProgram} ${attestorProgram}`,
      );
      return (tip: SnapshotTip, isUsable: (kept: SnapshotTip) => boolean) =>
        openSpool(
          path,
          identity,
          isShared,
        )(tip, isUsable).pipe(Effect.catch((cause) => Effect.as(notKept(cause), emptySpool(tip))));
    }),
  );
