import { Context, Duration, Effect, Queue, Ref, Schedule } from "effect";
import { hash32FromBytes } from "../../domain/hash32.ts";
import type { SyncMark } from "../../domain/index/sync-mark.ts";
import { printLogOrigin } from "../../log/checkpoint/log-origin.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";
import { decodeCustodyConfigAccount } from "../../protocol/accounts/custody-config-account.ts";
import { custodyConfigAddress } from "../../protocol/addresses/addresses.ts";
import { Instance } from "../../../ports/instance.ts";
import { LedgerNodes } from "../../../ports/ledger-nodes.ts";
import type { LogKey } from "../../../ports/log-signer.ts";
import { LogSigner } from "../../../ports/log-signer.ts";
import { LogStore } from "../../../ports/log-store.ts";
import type { Ledger } from "../../../ports/ledger.ts";
import { StoreUnavailable } from "../../../ports/store-unavailable.ts";
import type { WitnessClient } from "../../../ports/witness-client.ts";
import { gatherCosignatures, type WitnessRecord } from "./gather-cosignatures.ts";
import { beginTree, type GrowingTree } from "./growing-tree.ts";
import { readLogIdentity } from "./log-identity.ts";
import { type LogStanding, parseLogStanding, printLogStanding, type SignedHead } from "./log-standing.ts";
import { NodeAgreement } from "./node-agreement.ts";
import { LogRefused, openLog } from "./open-log.ts";
import { type LogTree, readRoot } from "./read-tree.ts";
import { printSignedCheckpoint, signCheckpoint } from "./sign-checkpoint.ts";

/** At most one checkpoint is signed in this time. */
const SIGN_EVERY = Duration.seconds(1);
/** How often a checkpoint that has not changed is cosigned again, so that it can be known to be fresh. */
const OFFER_UNCHANGED_EVERY = Duration.minutes(10);
/** Between two attempts after a failure. */
const TRY_AGAIN = Duration.seconds(2);

/** What keeps the log from being signed at the index's size, null when nothing does. */
export type LogHindrance =
  | "nodes_disagree"
  | "second_node_behind"
  | "signed_size_not_derived_yet"
  | "ended"
  | "store_or_ledger_unavailable"
  | "quorum_missing";

/** How publishing goes in this process. */
export type PublisherStatus = {
  readonly hindrance: LogHindrance | null;
  /** By the names of the policy. */
  readonly witnesses: ReadonlyMap<string, WitnessRecord>;
};

/** Signs and publishes the settlement log's checkpoints. */
export class LogPublisher extends Context.Service<
  LogPublisher,
  {
    /** Says that the index is complete to a mark. Returns at once. */
    readonly grown: (mark: SyncMark) => Effect.Effect<void>;
    /** Publishes for as long as it runs; the process runs it once. Fails when this key must not sign this log. */
    readonly run: Effect.Effect<never, LogRefused>;
    readonly status: Effect.Effect<PublisherStatus>;
  }
>()("settlement-evidence/core/use-cases/LogPublisher") {}

/** A log that is being published. */
type Publishing = {
  readonly key: LogKey;
  readonly tree: LogTree;
  readonly origin: string;
  last: SignedHead | null;
  /** Null until `last` has been derived again, and after a failure. */
  growing: GrowingTree | null;
};

const toHead = (origin: string, { size, root }: { readonly size: number; readonly root: Uint8Array }): SignedHead => ({
  origin,
  size,
  root: hash32FromBytes(root),
});

/** Why a log ends whose store gives another root than was signed. */
const otherRoot = (size: number): string =>
  `the store gives another root at size ${size} than the one that was signed`;

/**
 * The process's one `LogPublisher`. A fiber of the scope publishes, on behalf of the process that syncs. `policy` names the
 * witnesses and their quorum; without witnesses every checkpoint is published as it is signed. Fails with `LogRefused`
 * when the first mark shows that this key must not sign this log.
 */
export const makeLogPublisher = Effect.fnUntraced(function* (policy: LogPolicy | null) {
  const services = yield* Effect.context<LogStore | Ledger | Instance | WitnessClient>();
  const signer = yield* LogSigner;
  const hindrance = yield* Ref.make<LogHindrance | null>(null);
  const witnesses = yield* Ref.make<ReadonlyMap<string, WitnessRecord>>(new Map());
  const status = Effect.gen(function* () {
    return { hindrance: yield* Ref.get(hindrance), witnesses: yield* Ref.get(witnesses) };
  });
  if (signer === null)
    return LogPublisher.of({ grown: () => Effect.void, run: Effect.never, status });
  const { name, key } = signer;
  const nodes = yield* LedgerNodes;
  const { deployment } = yield* Instance;
  const config = custodyConfigAddress(deployment).address;
  const agreement = new NodeAgreement(nodes.count);
  const marks = yield* Queue.sliding<SyncMark>(1);

  /** The first use: which log the key signs. */
  const open = Effect.gen(function* () {
    const { networkLeaf, networkId } = yield* readLogIdentity;
    const { origin, last } = yield* openLog(name, networkId, key);
    const publishing: Publishing = {
      key,
      tree: { networkLeaf, generation: origin.generation },
      origin: printLogOrigin(origin),
      last,
      growing: null,
    };
    return publishing;
  });

  const standing = Effect.gen(function* () {
    const store = yield* LogStore;
    const text = yield* store.standing;
    return { text, value: text === null ? null : (parseLogStanding(text) ?? null) };
  });

  /** Replaces the standing; another process's write in between is tried again later. */
  const replace = Effect.fnUntraced(function* (before: string | null, next: LogStanding) {
    const store = yield* LogStore;
    if (yield* store.replaceStanding(before, printLogStanding(next))) return;
    return yield* new StoreUnavailable({ retryable: true, cause: "another process signs the log" });
  });

  const end = Effect.fnUntraced(function* (signed: SignedHead, cause: string) {
    const { text, value } = yield* standing;
    const ended: LogStanding = {
      signed,
      published: value?.published ?? null,
      ended: { cause, publicKey: hash32FromBytes(key.publicKey) },
    };
    yield* key.remember(printLogStanding(ended));
    yield* replace(text, ended);
    yield* Effect.logError("the settlement log has ended; nothing more is signed for it", {
      origin: signed.origin,
      size: signed.size,
      cause,
    });
    yield* Ref.set(hindrance, "ended");
  });

  /** The tree at the size that was signed last, derived again; null when the store is not that far, or gives another root. */
  const derive = Effect.fnUntraced(function* (log: Publishing, count: number) {
    const { last, tree } = log;
    if (last === null) return yield* beginTree(tree, 0);
    if (count + 1 < last.size) {
      yield* Ref.set(hindrance, "signed_size_not_derived_yet");
      return null;
    }
    const isLast = (growing: GrowingTree) =>
      hash32FromBytes(growing.head().root) === last.root;
    const kept = yield* beginTree(tree, last.size);
    if (isLast(kept)) return kept;
    // The kept tiles may be damaged; the leaves are the truth.
    const anew = yield* beginTree(tree, 0);
    yield* anew.growTo(last.size);
    if (isLast(anew)) return anew;
    yield* end(last, otherRoot(last.size));
    return null;
  });

  /** Up to which count the log may be signed. */
  const agreedCount = Effect.gen(function* () {
    if (nodes.count > 1) {
      const shown = yield* nodes.readFromEach(config);
      for (const [node, answer] of shown.entries()) {
        const account = answer?.value ?? null;
        const decoded = account === null ? null : decodeCustodyConfigAccount(account, deployment);
        if (decoded !== null && "value" in decoded) agreement.shown(node, decoded.value);
      }
    }
    return agreement.agreed();
  });

  const publish = Effect.fnUntraced(function* (log: Publishing, head: SignedHead) {
    const checkpoint = yield* signCheckpoint(key, head);
    const note =
      policy === null || policy.witnesses.length === 0
        ? printSignedCheckpoint(checkpoint, [])
        : yield* gatherCosignatures(log.tree, checkpoint, policy, witnesses);
    if (note === null) return yield* Ref.set(hindrance, "quorum_missing");
    const { text, value } = yield* standing;
    if (value === null || value.ended !== null) return;
    yield* replace(text, { ...value, published: note });
    yield* Ref.set(hindrance, null);
  });

  /** The head that may be signed now; null when enough nodes agree on nothing new. */
  const signable = Effect.fnUntraced(function* (log: Publishing, growing: GrowingTree) {
    const count = yield* agreedCount;
    const size = count === null ? 0 : Number(count) + 1;
    if (size < growing.size())
      yield* Ref.set(
        hindrance,
        agreement.contradicted.size > 0 ? "nodes_disagree" : "second_node_behind",
      );
    if (size === 0 || size < (log.last?.size ?? 1)) return null;
    const root = size === growing.size() ? growing.head().root : yield* readRoot(log.tree, size);
    return toHead(log.origin, { size, root });
  });

  /** One round: grows the tree to a mark, signs what may be signed, publishes it. */
  const round = Effect.fnUntraced(function* (log: Publishing, mark: SyncMark) {
    agreement.begin(mark);
    const before = yield* standing;
    const ours = before.value?.signed.origin === log.origin ? before.value : null;
    if (ours !== null && ours.ended !== null) return yield* Ref.set(hindrance, "ended");
    if (ours !== null && ours.signed.size > (log.last?.size ?? 0)) {
      // Another process that shares the store has signed since.
      log.last = ours.signed;
      log.growing = null;
    }
    log.growing ??= yield* derive(log, Number(mark.count));
    if (log.growing === null) return;
    yield* Ref.set(hindrance, null);
    yield* log.growing.growTo(Number(mark.count) + 1, (index, leaf) =>
      agreement.follow(BigInt(index), leaf),
    );
    const head = yield* signable(log, log.growing);
    if (head === null) return;
    if (ours === null || head.size > ours.signed.size) {
      const next: LogStanding = { signed: head, published: ours?.published ?? null, ended: null };
      yield* replace(before.text, next);
      yield* key.remember(printLogStanding(next));
      log.last = head;
    }
    yield* publish(log, head);
  });

  const run: Effect.Effect<never, LogRefused> = Effect.gen(function* () {
    let mark = yield* Queue.take(marks);
    const log = yield* Effect.retry(open, {
      schedule: Schedule.spaced(TRY_AGAIN),
      while: ({ _tag }) => _tag !== "LogRefused",
    }).pipe(Effect.catchIf((failure) => !(failure instanceof LogRefused), Effect.die));
    for (;;) {
      yield* round(log, mark).pipe(
        Effect.catch((failure) => {
          log.growing = null;
          return Effect.andThen(
            Effect.logWarning("the settlement log could not be published, and is tried again", {
              failure: failure._tag,
            }),
            Effect.andThen(Ref.set(hindrance, "store_or_ledger_unavailable"), Effect.sleep(TRY_AGAIN)),
          );
        }),
      );
      yield* Effect.sleep(SIGN_EVERY);
      const newer = yield* Effect.timeoutOption(Queue.take(marks), OFFER_UNCHANGED_EVERY);
      if (newer._tag === "Some") mark = newer.value;
    }
  }).pipe(Effect.provide(services));
  return LogPublisher.of({
    grown: (mark) => Effect.asVoid(Queue.offer(marks, mark)),
    run,
    status,
  });
});
