import { Effect, Layer } from "effect";
import { readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Address } from "../../core/domain/address.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import type { RebuildApproval } from "../../core/domain/index/sync-report.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { MAX_PACKET_BYTES } from "../../core/protocol/evidence/evidence-packet.ts";
import { ImportedPackets } from "../../ports/index/archived-rows.ts";
import { RebuildApprovals } from "../../ports/index/index-news.ts";
import { type BackfillCheckpoint, BackfillCheckpoints } from "../../ports/index/index-writer.ts";
import { Ledger } from "../../ports/ledger/ledger.ts";
import {
  makeFolderDurably,
  readIfThere,
  replaceFile,
  syncFolder,
  writeDurably,
} from "../bun/durable-file.ts";

type Kept = BackfillCheckpoint & { readonly ledger: string };

const isKept = (value: unknown): value is Kept => {
  const { way, cursor, isDone, ledger } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return (
    (way === "archive" || way === "history") &&
    (cursor === null || typeof cursor === "string") &&
    typeof isDone === "boolean" &&
    typeof ledger === "string"
  );
};

const told = (cause: unknown) =>
  Effect.logWarning("the search for old transactions has no checkpoint", {
    cause: cause instanceof Error ? cause.message : String(cause),
  });

/** A use of the file, which fails with path, cause and cure. */
const using = <A>(path: string, work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      `${path} cannot be used (${String(cause)}). If it is no file, move it away; the service's user must be allowed to write there.`,
  });

/**
 * Keeps the checkpoint in a file at `path`, which nobody else may use. One of another ledger or of other programs is
 * not read.
 */
export const backfillCheckpointFile = (
  path: string,
  { custodyProgram }: Deployment,
): Layer.Layer<BackfillCheckpoints, never, Ledger> =>
  Layer.effect(
    BackfillCheckpoints,
    Effect.map(Ledger, ({ genesisHash }) => {
      const identity = Effect.map(genesisHash, (genesis) => `${genesis} ${custodyProgram}`);
      return {
        load: Effect.gen(function* () {
          const ledger = yield* identity;
          const text = yield* using(path, () => readIfThere(path));
          const kept: unknown = text === null ? null : JSON.parse(text);
          if (!isKept(kept) || kept.ledger !== ledger) return null;
          const { way, cursor, isDone } = kept;
          return { way, cursor, isDone } satisfies BackfillCheckpoint;
        }).pipe(
          Effect.catch((cause) => Effect.as(told(cause), null)),
          Effect.catchDefect(() => Effect.succeed(null)),
        ),
        save: (checkpoint) =>
          Effect.gen(function* () {
            const kept: Kept = { ...checkpoint, ledger: yield* identity };
            yield* using(path, async () => {
              await makeFolderDurably(dirname(path));
              await writeDurably(path, JSON.stringify(kept));
            });
          }).pipe(Effect.catch(told)),
      };
    }),
  );

const FILE = /^[1-9A-HJ-NP-Za-km-z]{32,44}\.json$/;

/** The folder in a data directory where packets wait for the next sync. */
export const importFolder = (dataDir: string): string => join(dataDir, "imports");

/**
 * Writes packets durably to where the next sync takes them, in place of earlier ones of the same escrows. Rejects like
 * the file system.
 */
export const importPackets = async (
  dataDir: string,
  packets: ReadonlyMap<Address, Uint8Array>,
): Promise<void> => {
  const folder = importFolder(dataDir);
  await makeFolderDurably(folder);
  for (const [escrow, packet] of packets)
    await replaceFile(join(folder, `${escrow}.json`), packet, 0o600);
  await syncFolder(folder);
};

/** The file's bytes; a file that is too long to be a packet is read as none, so that it is refused and taken away. */
const read = async (path: string): Promise<Uint8Array> => {
  const { size } = await stat(path);
  return size > MAX_PACKET_BYTES ? new Uint8Array() : Bun.file(path).bytes();
};

/** The packets that wait in a data directory. */
export const importedPacketFiles = (dataDir: string): Layer.Layer<ImportedPackets> => {
  const folder = importFolder(dataDir);
  return Layer.succeed(ImportedPackets, {
    waiting: (limit) =>
      Effect.tryPromise(async () => {
        const names = (await readdir(folder)).filter((name) => FILE.test(name)).slice(0, limit);
        return Promise.all(
          names.map(async (name) => ({ name, bytes: await read(join(folder, name)) })),
        );
      }).pipe(Effect.orElseSucceed(() => [])),
    forget: (name) =>
      Effect.ignore(Effect.tryPromise(() => rm(join(folder, name), { force: true }))),
  });
};

const pathIn = (dataDir: string): string => join(dataDir, "rebuild-approved.json");

/** A count of events, a u64 as decimal digits. */
const COUNT = /^\d{1,20}$/;

const parse = (text: string): RebuildApproval | null => {
  const value = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const [replaces, root] = [value["replaces"], value["root"]].map((hash) =>
    parseHash32(String(hash)),
  );
  const count = String(value["count"]);
  return replaces === undefined || root === undefined || !COUNT.test(count)
    ? null
    : { replaces, by: { count: BigInt(count), root } };
};

/** Writes the operator's approval into a data directory, in place of an earlier one. Rejects like the file system. */
export const approveRebuild = async (
  dataDir: string,
  { replaces, by }: RebuildApproval,
): Promise<void> => {
  const path = pathIn(dataDir);
  await makeFolderDurably(dirname(path));
  const text = JSON.stringify({ replaces, count: by.count.toString(), root: by.root });
  await writeDurably(path, `${text}\n`, 0o600);
};

/** The approval in a data directory, read each time. */
export const rebuildApprovalFile = (dataDir: string): Layer.Layer<RebuildApprovals> =>
  Layer.succeed(
    RebuildApprovals,
    Effect.tryPromise(() => readIfThere(pathIn(dataDir))).pipe(
      Effect.flatMap((text) => Effect.try(() => (text === null ? null : parse(text)))),
      Effect.orElseSucceed(() => null),
    ),
  );
