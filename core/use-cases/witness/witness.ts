import { Clock, Context, Duration, Effect, Option, Semaphore } from "effect";
import { type Address, parseAddress } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { parseLogOrigin } from "../../log/checkpoint/log-origin.ts";
import { networkIdOf, networkLeaf } from "../../log/leaf/event-leaf.ts";
import { cosignatureMessage, cosignatureOf } from "../../log/notes/cosignature.ts";
import { printSignatures, printSignedNote } from "../../log/notes/signed-note.ts";
import { type VerifierKey, verifierKey } from "../../log/notes/verifier-key.ts";
import type { TreeHead } from "../../log/tree/tree-edge.ts";
import { verifyConsistency } from "../../log/tree/tree-proofs.ts";
import { emptyRoot, isSameHash } from "../../log/tree/tree-hash.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { LogSource } from "../../../ports/log/log-source.ts";
import {
  type CosignedLog,
  type RefusedCheckpoint,
  type ShownConfig,
  WitnessKey,
  WitnessState,
  type WitnessStateUnavailable,
} from "../../../ports/log/witness-state.ts";
import { followNode } from "./node-news.ts";
import { FRESH_FOR_MS, NodeRoots, readNodeRoot, sharedLook } from "./node-roots.ts";
import { servedProof } from "./served-proof.ts";
import {
  CheckpointRefused,
  LogUnknown,
  type OfferedCheckpoint,
  readOffer,
  type WitnessedLog,
  type WitnessFailure,
  type WitnessLack,
  WitnessNotReady,
} from "./witness-errors.ts";

/** The answer to an offered checkpoint. */
export type WitnessAnswer =
  /** The signature line of the cosignature, with its newline. */
  | { readonly kind: "cosigned"; readonly lines: string }
  /** The size that was cosigned last: the request assumed another, or the checkpoint has another root at this size. */
  | { readonly kind: "conflict"; readonly size: number };

/** A checkpoint that a log signed and the witness refused, and why. */
export type RefusedOfLog = RefusedCheckpoint & { readonly origin: string };

/** A witness that compares logs with its own node, where one is configured. */
export class Witness extends Context.Service<
  Witness,
  {
    /** Judges the body of `add-checkpoint`; null where no witness is configured. */
    readonly addCheckpoint: ((body: string) => Effect.Effect<WitnessAnswer, WitnessFailure>) | null;
    /**
     * The checkpoints that it refused, of all its logs: of each the first and the newest 31. Null without a witness.
     */
    readonly refused: Effect.Effect<ReadonlyArray<RefusedOfLog>, WitnessNotReady> | null;
    /** The key of its cosignatures, null without a witness. */
    readonly key: VerifierKey | null;
  }
>()("settlement-evidence/core/Witness") {}

/** What a witness watches, and on which ledger. */
export type WitnessConfig = {
  readonly logs: ReadonlyArray<WitnessedLog>;
  readonly deployment: Deployment;
};

/** When asking again can help, in seconds. */
const RETRY_SECONDS: Readonly<Record<WitnessLack, number>> = {
  node_behind: 2,
  node_ahead: 1,
  node_unavailable: 2,
  node_contradicts_itself: 10,
  node_rolled_back: 2,
  log_unavailable: 5,
  another_request: 1,
  state_unavailable: 10,
  key_unavailable: 5,
};

/** For how long a log may lack what the witness's node shows, and still have a smaller size cosigned. */
const AHEAD_FOR_MS = Duration.toMillis(Duration.minutes(5));

const notReady = (lack: WitnessLack) =>
  new WitnessNotReady({ lack, retrySeconds: RETRY_SECONDS[lack] });

const orNotReady = <A>(work: Effect.Effect<A, WitnessStateUnavailable>) =>
  work.pipe(
    Effect.tapError(({ cause }) => Effect.logError("the witness's state failed", cause)),
    Effect.mapError(() => notReady("state_unavailable")),
  );

const conflict = (size: number): WitnessAnswer => ({ kind: "conflict", size });

/**
 * The witness of some logs. It follows its node while its scope is open, and reads the logs' tiles and its own state;
 * see docs/log.md, "Witnesses".
 */
export const makeWitness = Effect.fnUntraced(function* ({ logs, deployment }: WitnessConfig) {
  const ledger = yield* Ledger;
  const source = yield* LogSource;
  const store = yield* WitnessState;
  const { name, publicKey, sign } = yield* WitnessKey;
  const key = verifierKey(name, "cosignature", publicKey);
  const roots = new NodeRoots();
  const origins = [...new Set(logs.map(({ key }) => key.name))];
  const turns = new Map<string, Semaphore.Semaphore>();
  for (const origin of origins) turns.set(origin, yield* Semaphore.make(1));
  let genesisHash: Address | undefined;

  /** The genesis hash of the node's ledger, which never changes. */
  const genesis = Effect.gen(function* () {
    if (genesisHash !== undefined) return genesisHash;
    const hash = yield* ledger.genesisHash.pipe(
      Effect.mapError(() => notReady("node_unavailable")),
    );
    genesisHash = parseAddress(hash);
    return genesisHash ?? (yield* notReady("node_unavailable"));
  });

  const keep = Effect.fnUntraced(function* (
    { checkpoint: { origin, size }, text, signatures }: OfferedCheckpoint,
    reason: string,
    config = roots.configFor(size),
  ) {
    yield* Effect.logWarning("a checkpoint was refused", { origin, size, reason });
    // Anybody can add lines to it. The log's own are what it answers for.
    const checkpoint = printSignedNote({ text, signatures });
    const refused = { reason, checkpoint, ...(config === undefined ? {} : { config }) };
    yield* orNotReady(store.keepRefused(origin, refused));
  });

  const refuse = Effect.fnUntraced(function* (
    offer: OfferedCheckpoint,
    reason: string,
    config?: ShownConfig,
  ) {
    yield* keep(offer, reason, config);
    return yield* new CheckpointRefused({ detail: reason });
  });

  const cosign = Effect.fnUntraced(function* ({ text }: OfferedCheckpoint, timeMs: number) {
    const time = BigInt(Math.floor(timeMs / 1000));
    const signature = yield* sign(cosignatureMessage(text, time)).pipe(
      Effect.mapError(() => notReady("key_unavailable")),
    );
    return {
      kind: "cosigned",
      lines: printSignatures([cosignatureOf(key, time, signature)]),
    } as const;
  });

  /** The node has shown two roots of one size, or another one than was cosigned: what it showed decides nothing. */
  const contradicted = Effect.suspend(() => {
    roots.forget();
    return notReady("node_contradicts_itself");
  });

  /** The node's root, remembered unless it contradicts an earlier one. */
  const look = yield* sharedLook(
    roots,
    Effect.flatMap(genesis, (hash) => readNodeRoot(ledger, { deployment, genesisHash: hash })),
    contradicted,
  );

  /** Believes the node nothing while it shows another root than was cosigned. */
  const requireCosigned = Effect.fnUntraced(function* (cosigned: CosignedLog | null) {
    const shown = cosigned === null ? undefined : roots.at(cosigned.size);
    if (cosigned === null || shown === undefined || isSameHash(shown, cosigned.root)) return;
    return yield* contradicted;
  });

  /**
   * Refuses an offer that contradicts what the node has shown. The node may have been wrong: other reads decide about
   * the next offer.
   */
  const refuseByNode = (offer: OfferedCheckpoint, reason: string) =>
    Effect.suspend(() => {
      const config = roots.configFor(offer.checkpoint.size);
      roots.forget();
      return refuse(offer, reason, config);
    });

  /** Whether the node has shown the offered size, and with the offered root. */
  const isShown = Effect.fnUntraced(function* (offer: OfferedCheckpoint) {
    const { size, root } = offer.checkpoint;
    const shown = roots.at(size);
    if (shown === undefined) return false;
    if (isSameHash(shown, root)) return true;
    return yield* refuseByNode(offer, "the ledger has another root at this size");
  });

  /**
   * Shows that the offered tree is the beginning of a larger one that the node has shown, by the tiles that the log
   * serves.
   */
  const provenByTiles = Effect.fnUntraced(function* (offer: OfferedCheckpoint, larger: TreeHead) {
    const { checkpoint, log } = offer;
    const proof = yield* servedProof({ source, url: log.url }, checkpoint.size, larger.size).pipe(
      Effect.catchTags({
        LogUnavailable: () => notReady("log_unavailable"),
        TilesMissing: () => notReady("node_ahead"),
        TilesFalse: ({ detail }) => refuse(offer, `the log's tiles are false: ${detail}`),
      }),
    );
    if (verifyConsistency(checkpoint, larger, proof)) return;
    const reason = `the log's tiles do not lead to the ledger's root at size ${larger.size}`;
    return yield* refuseByNode(offer, reason);
  });

  /**
   * Compares an offer with the node, which was asked for it or at most two seconds before. Fails unless the node shows
   * that size, or a later one that begins with it. A log that lacks for more than five minutes what the node has shown
   * gets no smaller size cosigned: its time would say that there is no more.
   */
  const compareWithNode = Effect.fnUntraced(function* (
    offer: OfferedCheckpoint,
    cosigned: CosignedLog | null,
  ) {
    const { size } = offer.checkpoint;
    const arrivedMs = yield* Clock.currentTimeMillis;
    yield* requireCosigned(cosigned);
    const isRemembered = yield* isShown(offer);
    // An answer of exactly that age counts, hence one millisecond more.
    const shown = yield* look(isRemembered ? arrivedMs - FRESH_FOR_MS - 1 : arrivedMs);
    yield* requireCosigned(cosigned);
    if (shown.size < (cosigned?.size ?? 0)) return yield* notReady("node_rolled_back");
    if (shown.size < size) return yield* notReady("node_behind");
    // A log that has ended lacks what came later, and says so. What was cosigned was compared then.
    const { isLast } = offer.checkpoint;
    const overdue = isLast ? undefined : roots.firstFrom(size + 1, arrivedMs - AHEAD_FOR_MS);
    const isCosigned = isLast && size === cosigned?.size;
    const isKnown = isCosigned || isRemembered || (yield* isShown(offer));
    const larger = overdue ?? (isKnown ? undefined : roots.firstFrom(size));
    if (larger !== undefined) yield* provenByTiles(offer, larger);
  });

  const judge = Effect.fnUntraced(function* (offer: OfferedCheckpoint) {
    const { checkpoint, oldSize, proof } = offer;
    const { origin, size, root, isLast } = checkpoint;
    const parts = parseLogOrigin(origin);
    const ownId = networkIdOf(networkLeaf(yield* genesis, deployment.custodyProgram));
    if ("fault" in parts || parts.value.networkId !== ownId)
      return yield* new LogUnknown({ detail: "the log is of another network than this witness" });
    const cosigned = yield* orNotReady(store.read(origin));
    const lastSize = cosigned?.size ?? 0;
    if (oldSize !== lastSize) return conflict(lastSize);
    if (size === 0) return yield* new CheckpointRefused({ detail: "no log of events is empty" });
    if (cosigned?.isLast && size > lastSize)
      return yield* refuse(offer, `the log ended at size ${lastSize}`);
    // It may have been signed before the last one.
    if (cosigned?.isLast && !isLast && isSameHash(root, cosigned.root))
      return yield* new CheckpointRefused({ detail: `the log ended at size ${lastSize}` });
    if (cosigned !== null && size === lastSize && !isSameHash(root, cosigned.root)) {
      yield* keep(offer, "another root was cosigned at this size");
      return conflict(lastSize);
    }
    const last = { size: lastSize, root: cosigned?.root ?? emptyRoot() };
    if (!verifyConsistency(last, checkpoint, proof))
      return yield* new CheckpointRefused({ detail: "the consistency proof does not verify" });
    yield* compareWithNode(offer, cosigned);
    if (size === lastSize && isLast === cosigned?.isLast)
      return yield* cosign(offer, yield* Clock.currentTimeMillis);
    const next = { size, root, ...(isLast ? { isLast } : {}) };
    const isKept = yield* orNotReady(
      Effect.uninterruptible(store.compareAndSet(origin, lastSize, next)),
    );
    if (!isKept) return conflict((yield* orNotReady(store.read(origin)))?.size ?? 0);
    return yield* cosign(offer, yield* Clock.currentTimeMillis);
  });

  const addCheckpoint = Effect.fn("addCheckpoint")(function* (body: string) {
    const offer = yield* readOffer(logs, body);
    const turn = turns.get(offer.checkpoint.origin);
    if (turn === undefined) return yield* Effect.die(new Error("a log without a turn"));
    const answer = yield* turn.withPermitsIfAvailable(1)(judge(offer));
    return Option.isSome(answer) ? answer.value : yield* notReady("another_request");
  });
  yield* Effect.forkScoped(followNode(roots, look, deployment));
  const refused = Effect.forEach(origins, (origin) =>
    Effect.map(orNotReady(store.refused(origin)), (all) =>
      all.map((each) => ({ origin, ...each })),
    ),
  ).pipe(Effect.map((ofLogs) => ofLogs.flat()));
  return Witness.of({ addCheckpoint, refused, key });
});
