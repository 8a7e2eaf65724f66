import { dirname } from "node:path";
import { Effect, Layer } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import {
  type BackfillCheckpoint,
  BackfillCheckpoints,
} from "../../ports/index/backfill-checkpoint.ts";
import { Ledger } from "../../ports/ledger/ledger.ts";
import { makeFolderDurably, readIfThere, writeDurably } from "../bun/durable-file.ts";

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

/** Keeps the checkpoint in a file at `path`, which nobody else may use. One of another ledger or of other programs is not read. */
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
