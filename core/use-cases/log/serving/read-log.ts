import { Context, Data, Effect } from "effect";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import type { LogStore } from "../../../../ports/log/log-store.ts";
import { addressToBytes, parseAddress } from "../../../domain/address.ts";
import type { Escrow } from "../../../domain/escrow/escrow.ts";
import { RecentlyUsed } from "../../../domain/recently-used.ts";
import { printTlogProof } from "../../../log/checkpoint/tlog-proof.ts";
import { isSettlementLeaf } from "../../../log/leaf/event-leaf.ts";
import { decodeEntryBundle, encodeEntryBundle } from "../../../log/tiles/entry-bundle.ts";
import { parseTilePath, type Tile, tileWidthIn } from "../../../log/tiles/tile-path.ts";
import { HASH_LENGTH, leafHash } from "../../../log/tree/tree-hash.ts";
import { verifyInclusion } from "../../../log/tree/tree-proofs.ts";
import { readFinalizedEscrow } from "../../escrow/read-escrow.ts";
import { monotonicMs } from "../../single-flight.ts";
import { readInclusionProof, readLeaves } from "../read-tree.ts";
import { type PublishedLog, readSignedTile, SettlementLog } from "./published-log.ts";

/** A proof that a log holds an event of an escrow, as a packet carries it. */
export type LogProof = {
  /** The log's origin line. */
  readonly origin: string;
  /** The leaf's index, which is the event's number. */
  readonly index: number;
  /** The tlog-proof of C2SP with the checkpoint in it, as text. */
  readonly proof: string;
};

/** The proofs of the settlement log. */
export class LogProofs extends Context.Service<
  LogProofs,
  {
    /**
     * The proof of an escrow's last event under the newest published checkpoint. Null while nothing is published, and
     * while the log holds an earlier event of the escrow only. Returns the same text for the same checkpoint.
     */
    readonly ofEscrow: (escrow: Escrow) => Effect.Effect<LogProof | null>;
  }
>()("settlement-evidence/core/use-cases/LogProofs") {}

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
 * A tile or entry bundle of a log as it stands. Fails with `NotInLog` for one beyond what was signed, and like the store
 * while its leaves are not those that were signed.
 */
export const readTileOf = Effect.fnUntraced(function* (log: PublishedLog, tile: Tile) {
  const { standing, tree } = log;
  const signedWidth = tileWidthIn(tile, standing.signed.size);
  if (tile.width > signedWidth) return yield* new NotInLog({ what: "tile" });
  // A full tile is kept when it is signed. The first hashes or entries of a tile are those of each narrower one.
  const signed = { ...tile, width: signedWidth };
  const edge = (yield* SettlementLog).signedEdge(log);
  const bytes = yield* readSignedTile({ tree, size: standing.signed.size, edge }, signed);
  if (bytes === undefined) return yield* new NotInLog({ what: "tile" });
  if (tile.width === signedWidth) return bytes;
  if (tile.level !== "entries") return bytes.slice(0, tile.width * HASH_LENGTH);
  const entries = decodeEntryBundle(bytes, signedWidth);
  if ("fault" in entries)
    return yield* new StoreUnavailable({ retryable: true, cause: entries.fault });
  return encodeEntryBundle(entries.value.slice(0, tile.width));
});

/**
 * A tile or entry bundle of the log by its path, such as `tile/0/x001/234` or `tile/entries/000.p/7`. Every signed
 * size's tiles are there. Fails like `readTileOf`, and with `NotInLog` without a log.
 */
export const readLogTile = Effect.fn("readLogTile")(function* (path: string) {
  const log = yield* (yield* SettlementLog).published;
  const tile = parseTilePath(path);
  if (log === null || tile === undefined) return yield* new NotInLog({ what: "tile" });
  return yield* readTileOf(log, tile);
});

/** The escrow's last event is not below the published checkpoint yet. */
export class NotLoggedYet extends Data.TaggedError("NotLoggedYet")<{
  /** The number of the event. */
  readonly index: number;
  /** Leaves of the published checkpoint. */
  readonly size: number;
}> {}

/** The numbers of an escrow's events. */
type EventNumbers = { readonly createdSeq: bigint; readonly settledSeq: bigint | null };

const lastEventOf = ({ createdSeq, settledSeq }: EventNumbers): number =>
  Number(settledSeq ?? createdSeq);

/** A leaf with the hashes that lead from it to the root of the published checkpoint, its sibling first. */
type ProvenLeaf = {
  readonly origin: string;
  readonly leaf: Uint8Array;
  readonly proof: ReadonlyArray<Uint8Array>;
  readonly checkpoint: { readonly text: string; readonly size: number; readonly root: Uint8Array };
};

/**
 * A leaf by its index and its proof. Null while the published checkpoint does not cover it, while the index does not
 * hold the leaves that it covers, without a log, and where `isWanted` says no of the leaf.
 */
const proveLeaf = Effect.fnUntraced(function* (
  index: number,
  isWanted: (leaf: Uint8Array) => boolean = () => true,
): Effect.fn.Return<ProvenLeaf | null, StoreUnavailable, LogStore | SettlementLog> {
  const settlementLog = yield* SettlementLog;
  const log = yield* settlementLog.published;
  const checkpoint = log?.checkpoint ?? null;
  if (log === null || checkpoint === null || index >= checkpoint.size) return null;
  const [leaf] = yield* readLeaves(log.tree, index, 1);
  if (leaf === undefined || !isWanted(leaf)) return null;
  const { tiles } = settlementLog;
  const claim = { index, leafHash: leafHash(leaf), head: checkpoint };
  const read = readInclusionProof(log.tree, index, checkpoint.size, tiles.read);
  let proof = yield* read;
  if (!verifyInclusion(claim, proof)) {
    // The index may have held other leaves when the tiles were made of them.
    tiles.forget();
    proof = yield* read;
    // It may hold other leaves than those that were signed.
    if (!verifyInclusion(claim, proof)) return null;
  }
  return { origin: log.standing.signed.origin, leaf, proof, checkpoint };
});

/** The proof that the log holds an escrow's last event, under the published checkpoint; null as `proveLeaf` is. */
export const proveEscrow = Effect.fn("proveEscrow")(function* (
  numbers: EventNumbers,
  isWanted?: (leaf: Uint8Array) => boolean,
) {
  const index = lastEventOf(numbers);
  const proven = yield* proveLeaf(index, isWanted);
  if (proven === null) return null;
  const { origin, proof, checkpoint } = proven;
  const printed: LogProof = {
    origin,
    index,
    proof: printTlogProof({ index, proof, checkpoint: checkpoint.text }),
  };
  return printed;
});

/**
 * The proof of an escrow that the index has as settled; null for any other one, and while the store does not answer.
 * Nothing comes after a settlement, and the signed root shows that it is this escrow's: no node need be asked.
 */
const proveSettled = Effect.fnUntraced(
  function* (pda: string) {
    const address = parseAddress(pda);
    if (address === undefined) return null;
    const { escrows, unseen } = yield* (yield* IndexReader).escrowsAt([address]);
    const known = escrows[0] ?? unseen[0];
    if (known === undefined || known.settledSeq === null) return null;
    const bytes = addressToBytes(address);
    return yield* proveEscrow(known, (leaf) => isSettlementLeaf(leaf, bytes));
  },
  Effect.orElseSucceed(() => null),
);

/** Why the log proves no leaf at an index: it has no published checkpoint, or a smaller one. */
const refuseUnproven = Effect.fnUntraced(function* (index: number) {
  const checkpoint = (yield* (yield* SettlementLog).published)?.checkpoint ?? null;
  return yield* checkpoint === null
    ? new NotInLog({ what: "checkpoint" })
    : new NotLoggedYet({ index, size: checkpoint.size });
});

/**
 * A leaf of the log by its index, with its proof under the published checkpoint. Fails with `NotInLog` without one, with
 * `NotLoggedYet` for an index that it does not cover, and like the store while its leaves are not those that were signed.
 */
export const readLogLeaf = Effect.fn("readLogLeaf")(function* (index: number) {
  const proven = yield* proveLeaf(index);
  if (proven !== null) return proven;
  const size = (yield* (yield* SettlementLog).published)?.checkpoint?.size ?? 0;
  if (index >= size) return yield* refuseUnproven(index);
  const cause = `the store's leaves do not prove leaf ${index} under the published checkpoint`;
  return yield* new StoreUnavailable({ retryable: true, cause });
});

/**
 * The proof of an escrow by its address: of a settled one from the index, otherwise from its finalized account or
 * tombstone. Fails like `readFinalizedEscrow`, with `NotInLog` without a published checkpoint, and with
 * `NotLoggedYet`.
 */
export const readEscrowProof = Effect.fn("readEscrowProof")(function* (pda: string) {
  const settled = yield* proveSettled(pda);
  if (settled !== null) return settled.proof;
  const numbers: EventNumbers = yield* readFinalizedEscrow(pda).pipe(
    Effect.map(({ escrow }) => escrow),
    Effect.catchTag("EscrowArchived", ({ tombstone }) => Effect.succeed(tombstone)),
  );
  const proof = yield* proveEscrow(numbers);
  if (proof !== null) return proof.proof;
  return yield* refuseUnproven(lastEventOf(numbers));
});

/** The least number of proofs kept; twice as many at most. At 3 KB each. */
const KEPT = 2000;

/**
 * How long a packet may show the proof under the checkpoint before, or none, milliseconds: a log publishes one a second
 * at most.
 */
const CHECKPOINT_FRESH_MS = 100;

/** A proof, and the checkpoint in it. */
type Kept = { readonly checkpoint: string; readonly proof: LogProof };

/** The process's one `LogProofs`. While the store does not answer, escrows have no proof. */
export const makeLogProofs = Effect.gen(function* () {
  const services = yield* Effect.context<LogStore | SettlementLog>();
  const log = yield* SettlementLog;
  const kept = new RecentlyUsed<number, Kept>(KEPT);
  /** The published checkpoint as it was read last, and its size; 0 before the first. */
  let seen: {
    readonly checkpoint: string | null;
    readonly size: number;
    readonly atMs: number;
  } | null = null;
  const find = Effect.fnUntraced(function* (escrow: Escrow, index: number, nowMs: number) {
    const { text: checkpoint, size } = (yield* log.published)?.checkpoint ?? {
      text: null,
      size: 0,
    };
    seen = { checkpoint, size, atMs: nowMs };
    if (checkpoint === null || index >= size) return null;
    const known = kept.get(index);
    if (known?.checkpoint === checkpoint) return known.proof;
    const proof = yield* proveEscrow(escrow);
    if (proof !== null) kept.set(index, { checkpoint, proof });
    return proof;
  });
  return LogProofs.of({
    ofEscrow: (escrow) =>
      Effect.flatMap(monotonicMs, (nowMs) => {
        const index = lastEventOf(escrow);
        if (seen !== null && nowMs - seen.atMs < CHECKPOINT_FRESH_MS) {
          if (index >= seen.size) return Effect.succeed(null);
          const known = kept.get(index);
          if (known?.checkpoint === seen.checkpoint) return Effect.succeed(known.proof);
        }
        return find(escrow, index, nowMs).pipe(
          Effect.orElseSucceed(() => null),
          Effect.provide(services),
        );
      }),
  });
});
