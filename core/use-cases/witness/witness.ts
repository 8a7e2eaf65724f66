import { Clock, Context, Effect, Option, Semaphore } from "effect";
import { parseAddress } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { parseLogOrigin } from "../../log/checkpoint/log-origin.ts";
import { networkIdOf, networkLeaf } from "../../log/leaf/event-leaf.ts";
import { cosignatureMessage, cosignatureOf } from "../../log/notes/cosignature.ts";
import { printSignatures } from "../../log/notes/signed-note.ts";
import { type VerifierKey, verifierKey } from "../../log/notes/verifier-key.ts";
import { verifyConsistency } from "../../log/tree/tree-proofs.ts";
import { emptyRoot, isSameHash } from "../../log/tree/tree-hash.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { LogSource } from "../../../ports/log/log-source.ts";
import {
  type CosignedLog,
  WitnessKey,
  WitnessState,
  type WitnessStateUnavailable,
} from "../../../ports/log/witness-state.ts";
import { NodeHeads, readNodeHead } from "./node-heads.ts";
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
import { Replay } from "./replay.ts";

/** The answer to an offered checkpoint. */
export type WitnessAnswer =
  /** The signature line of the cosignature, with its newline. */
  | { readonly kind: "cosigned"; readonly lines: string }
  /** The size that was cosigned last: the request assumed another, or the checkpoint has another root at this size. */
  | { readonly kind: "conflict"; readonly size: number };

/** A witness that replays logs against its own node, where one is configured. */
export class Witness extends Context.Service<
  Witness,
  {
    /** Judges the body of `add-checkpoint`; null where no witness is configured. */
    readonly addCheckpoint: ((body: string) => Effect.Effect<WitnessAnswer, WitnessFailure>) | null;
    /** The key of its cosignatures, null without a witness. */
    readonly key: VerifierKey | null;
  }
>()("settlement-evidence/core/Witness") {}

/** What a witness watches, and on which ledger. */
export type WitnessConfig = {
  readonly logs: ReadonlyArray<WitnessedLog>;
  readonly deployment: Deployment;
};

/** How long one request may replay. 10 million entries take longer; then later requests go on. */
const REPLAY_WITHIN_MS = 45_000;

/** When asking again can help, in seconds. */
const RETRY_SECONDS: Readonly<Record<WitnessLack, number>> = {
  node_behind: 2,
  node_ahead: 1,
  node_unavailable: 2,
  node_contradicts_itself: 10,
  log_unavailable: 5,
  replay_unfinished: 1,
  another_request: 1,
  state_unavailable: 10,
};

const notReady = (lack: WitnessLack) =>
  new WitnessNotReady({ lack, retrySeconds: RETRY_SECONDS[lack] });

const orNotReady = <A>(work: Effect.Effect<A, WitnessStateUnavailable>) =>
  work.pipe(
    Effect.tapError(({ cause }) => Effect.logError("the witness's state failed", cause)),
    Effect.mapError(() => notReady("state_unavailable")),
  );

const conflict = (size: number): WitnessAnswer => ({ kind: "conflict", size });

/** The witness of some logs. It reads its node, the logs' entries and its own state; see docs/log.md, "Witnesses". */
export const makeWitness = Effect.fnUntraced(function* ({ logs, deployment }: WitnessConfig) {
  const ledger = yield* Ledger;
  const source = yield* LogSource;
  const store = yield* WitnessState;
  const { name, publicKey, sign } = yield* WitnessKey;
  const key = verifierKey(name, "cosignature", publicKey);
  const heads = new NodeHeads();
  const byOrigin = new Map(logs.map((log) => [log.key.name, log]));
  const turns = new Map<string, Semaphore.Semaphore>();
  for (const origin of byOrigin.keys()) turns.set(origin, yield* Semaphore.make(1));
  /** Replays that did not reach their checkpoint in time, and the size at which each began. */
  const unfinished = new Map<string, { readonly from: number; readonly replay: Replay }>();
  let ownLeaf: Uint8Array | undefined;

  /** Leaf 0 of a log of this witness's network. Its node's genesis hash never changes. */
  const ownNetwork = Effect.gen(function* () {
    if (ownLeaf !== undefined) return ownLeaf;
    const hash = yield* ledger.genesisHash.pipe(
      Effect.mapError(() => notReady("node_unavailable")),
    );
    const address = parseAddress(hash);
    if (address === undefined) return yield* notReady("node_unavailable");
    return (ownLeaf = networkLeaf(address, deployment));
  });

  const keep = Effect.fnUntraced(function* (
    { checkpoint: { origin, size }, note }: OfferedCheckpoint,
    reason: string,
  ) {
    yield* Effect.logWarning("a checkpoint was refused", { origin, size, reason });
    yield* orNotReady(store.keepRefused(origin, { reason, checkpoint: note }));
  });

  const refuse = Effect.fnUntraced(function* (offer: OfferedCheckpoint, reason: string) {
    yield* keep(offer, reason);
    return yield* new CheckpointRefused({ detail: reason });
  });

  const cosign = Effect.fnUntraced(function* ({ text }: OfferedCheckpoint, timeMs: number) {
    const time = BigInt(Math.floor(timeMs / 1000));
    const signature = yield* sign(cosignatureMessage(text, time));
    return {
      kind: "cosigned",
      lines: printSignatures([cosignatureOf(key, time, signature)]),
    } as const;
  });

  /** Reads the node's head and remembers it, unless it contradicts an earlier one. */
  const seeNode = Effect.fnUntraced(function* (cosigned: CosignedLog | null) {
    const head = yield* readNodeHead(ledger, deployment);
    const contradicts =
      cosigned !== null &&
      head.count === cosigned.size - 1 &&
      !isSameHash(head.head, cosigned.head);
    if (contradicts || !heads.add(head)) return yield* notReady("node_contradicts_itself");
  });

  /** Replays the log's entries to the offered size, going on where an earlier request stopped. */
  const replayed = Effect.fnUntraced(function* (
    offer: OfferedCheckpoint,
    cosigned: CosignedLog | null,
    leaf: Uint8Array,
  ) {
    const { origin, size } = offer.checkpoint;
    const from = cosigned?.size ?? 0;
    const begun = unfinished.get(origin);
    const goesOn = begun !== undefined && begun.from === from && begun.replay.size <= size;
    const replay = goesOn ? begun.replay : new Replay(cosigned);
    unfinished.set(origin, { from, replay });
    yield* replay.goTo({ source, url: offer.log.url }, size, leaf).pipe(
      Effect.catchTags({
        LogUnavailable: () => notReady("log_unavailable"),
        EntriesMissing: () => notReady("log_unavailable"),
        EntriesFalse: ({ detail }) =>
          Effect.andThen(forget(origin), refuse(offer, `the log's entries are false: ${detail}`)),
      }),
    );
    if (!isSameHash(replay.state().root, offer.checkpoint.root)) {
      yield* forget(origin);
      return yield* refuse(offer, "the log's entries have another root");
    }
    return replay;
  });

  const forget = (origin: string) => Effect.sync(() => void unfinished.delete(origin));

  /**
   * Shows that the replayed events are the ledger's first: their chain, led on with the log's next entries if need be,
   * arrives at a head that the node has shown.
   */
  const shownByNode = Effect.fnUntraced(function* (offer: OfferedCheckpoint, replay: Replay) {
    const head = heads.firstFrom(offer.checkpoint.size - 1);
    if (head === undefined) return yield* notReady("node_behind");
    const chained = yield* replay.headAt({ source, url: offer.log.url }, head.count).pipe(
      Effect.catchTags({
        LogUnavailable: () => notReady("log_unavailable"),
        EntriesMissing: () => notReady("node_ahead"),
        EntriesFalse: ({ detail }) => refuse(offer, `the log's entries are false: ${detail}`),
      }),
    );
    if (isSameHash(chained, head.head)) return;
    // The node may have been wrong; another read decides about the next offer.
    heads.forget(head.count);
    yield* forget(offer.checkpoint.origin);
    return yield* refuse(offer, `the events up to ${head.count} are not those of the ledger`);
  });

  const judge = Effect.fnUntraced(function* (offer: OfferedCheckpoint) {
    const { checkpoint, oldSize, proof } = offer;
    const { origin, size, root } = checkpoint;
    const leaf = yield* ownNetwork;
    const parts = parseLogOrigin(origin);
    if ("fault" in parts || parts.value.networkId !== networkIdOf(leaf))
      return yield* new LogUnknown({ detail: "the log is of another network than this witness" });
    const cosigned = yield* orNotReady(store.read(origin));
    const lastSize = cosigned?.size ?? 0;
    if (oldSize !== lastSize) return conflict(lastSize);
    if (size === 0) return yield* new CheckpointRefused({ detail: "no log of events is empty" });
    if (cosigned !== null && size === lastSize && !isSameHash(root, cosigned.root)) {
      yield* keep(offer, "another root was cosigned at this size");
      return conflict(lastSize);
    }
    const last = { size: lastSize, root: cosigned?.root ?? emptyRoot() };
    if (!verifyConsistency(last, checkpoint, proof))
      return yield* new CheckpointRefused({ detail: "the consistency proof does not verify" });
    if (size === lastSize) return yield* cosign(offer, yield* Clock.currentTimeMillis);
    yield* seeNode(cosigned);
    if (heads.firstFrom(size - 1) === undefined) return yield* notReady("node_behind");
    const replay = yield* replayed(offer, cosigned, leaf).pipe(
      Effect.tap((replay) => shownByNode(offer, replay)),
      Effect.timeoutOrElse({
        duration: REPLAY_WITHIN_MS,
        orElse: () => notReady("replay_unfinished"),
      }),
    );
    const isKept = yield* orNotReady(
      Effect.uninterruptible(store.compareAndSet(origin, lastSize, replay.state())),
    );
    yield* forget(origin);
    if (!isKept) return conflict((yield* orNotReady(store.read(origin)))?.size ?? 0);
    return yield* cosign(offer, yield* Clock.currentTimeMillis);
  });

  const addCheckpoint = Effect.fn("addCheckpoint")(function* (body: string) {
    const offer = yield* readOffer(byOrigin, body);
    const turn = turns.get(offer.checkpoint.origin);
    if (turn === undefined) return yield* Effect.die(new Error("a log without a turn"));
    const answer = yield* turn.withPermitsIfAvailable(1)(judge(offer));
    return Option.isSome(answer) ? answer.value : yield* notReady("another_request");
  });
  return Witness.of({ addCheckpoint, key });
});
