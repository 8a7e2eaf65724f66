import { Data, Effect } from "effect";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import { printTlogProof } from "../../log/checkpoint/tlog-proof.ts";
import { parseTilePath } from "../../log/tiles/tile-path.ts";
import { tileWidthIn } from "../../log/tiles/tile-plan.ts";
import { SettlementLog } from "./published-log.ts";
import { readInclusionProof, readTile } from "./read-tree.ts";

/** This service publishes no log, or no checkpoint of it yet, or the log has no such tile. */
export class NotInLog extends Data.TaggedError("NotInLog")<{
  readonly what: "checkpoint" | "tile";
}> {}

/** The published checkpoint: a signed note with the quorum's cosignatures. Fails with `NotInLog`. */
export const readCheckpoint = Effect.gen(function* () {
  const log = yield* (yield* SettlementLog).published;
  if (log === null || log.checkpoint === null) return yield* new NotInLog({ what: "checkpoint" });
  return log.checkpoint.text;
}).pipe(Effect.withSpan("readCheckpoint"));

/**
 * A tile or entry bundle of the log by its path, such as `tile/0/x001/234` or `tile/entries/000.p/7`. Every signed size's
 * tiles are there. Fails with `NotInLog`.
 */
export const readLogTile = Effect.fn("readLogTile")(function* (path: string) {
  const log = yield* (yield* SettlementLog).published;
  const tile = parseTilePath(path);
  if (log === null || tile === undefined) return yield* new NotInLog({ what: "tile" });
  const { standing, tree } = log;
  if (tile.width > tileWidthIn(tile, standing.signed.size))
    return yield* new NotInLog({ what: "tile" });
  return yield* readTile(tree, tile);
});

/** An escrow's place in the log. */
export type EscrowProof = {
  readonly origin: string;
  /** The number of the escrow's last event, which is its leaf's index. */
  readonly index: number;
  /** `c2sp.org/tlog-proof@v1` */
  readonly proof: string;
};

/**
 * The proof that the log holds an escrow's last event, under the published checkpoint. Null while that checkpoint does not
 * cover the event, and without a log.
 */
export const proveEscrow = Effect.fn("proveEscrow")(function* ({
  createdSeq,
  settledSeq,
}: Pick<Escrow, "createdSeq" | "settledSeq">) {
  const log = yield* (yield* SettlementLog).published;
  const checkpoint = log?.checkpoint ?? null;
  const index = Number(settledSeq ?? createdSeq);
  if (log === null || checkpoint === null || index >= checkpoint.size) return null;
  const proof: EscrowProof = {
    origin: log.standing.signed.origin,
    index,
    proof: printTlogProof({
      index,
      proof: yield* readInclusionProof(log.tree, index, checkpoint.size),
      checkpoint: checkpoint.text,
    }),
  };
  return proof;
});
