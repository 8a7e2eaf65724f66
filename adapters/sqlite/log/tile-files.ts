import { mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Effect } from "effect";
import { replaceFile, syncFolder } from "../../bun/durable-file.ts";
import type { FullTile } from "../../../ports/log/log-store.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { storeFailure } from "../store-failure.ts";

/**
 * Paths of full tiles: the log's generation, then as in c2sp.org/tlog-tiles: level 0 to 63 or `entries`, and the number
 * in groups of three digits.
 */
const FULL_TILE = /^\d{1,6}\/tile\/(?:entries|\d|[1-5]\d|6[0-3])\/(?:x\d{3}\/)*\d{3}$/;
/** Tiles that are written at the same time; each waits for the disk. */
const AT_ONCE = 8;

const isMissing = (cause: unknown): boolean =>
  cause instanceof Error &&
  "code" in cause &&
  (cause.code === "ENOENT" || cause.code === "ENOTDIR");

const tried = <A>(work: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new StoreUnavailable({ retryable: true, cause, fault: storeFailure(cause)?.fault }),
  });

/** Full tiles as files below `folder`, each by its path. */
export const tileFiles = (folder: string) => {
  /** @throws Error for another path: paths come from requests too, and none may lead out of the folder. */
  const fileOf = (path: string): string | undefined =>
    FULL_TILE.test(path) ? join(folder, path) : undefined;

  /** The folders from `folder` down to the one of a file. */
  const foldersOf = (file: string): ReadonlyArray<string> => {
    const parent = dirname(file);
    return parent.length <= folder.length ? [folder] : [...foldersOf(parent), parent];
  };

  const keepOne = async ({ path, bytes }: FullTile): Promise<ReadonlyArray<string>> => {
    const file = fileOf(path);
    if (file === undefined) throw new Error(`${path} is no path of a full tile`);
    const kept = await readFile(file).catch(() => null);
    if (kept !== null && kept.equals(bytes)) return [];
    await mkdir(dirname(file), { recursive: true });
    await replaceFile(file, bytes);
    return foldersOf(file);
  };

  return {
    /** A full tile's bytes; null for one that is not kept, and for any other path. */
    read: (path: string): Effect.Effect<Uint8Array | null, StoreUnavailable> =>
      tried(async () => {
        const file = fileOf(path);
        if (file === undefined) return null;
        try {
          return new Uint8Array(await readFile(file));
        } catch (cause) {
          if (isMissing(cause)) return null;
          throw cause;
        }
      }),
    /** Keeps tiles: whole, under their names and durable when it returns. */
    keep: (tiles: ReadonlyArray<FullTile>): Effect.Effect<void, StoreUnavailable> =>
      Effect.gen(function* () {
        const touched = yield* Effect.forEach(tiles, (tile) => tried(() => keepOne(tile)), {
          concurrency: AT_ONCE,
        });
        yield* Effect.forEach(new Set(touched.flat()), (each) => tried(() => syncFolder(each)), {
          concurrency: AT_ONCE,
          discard: true,
        });
      }),
  };
};
