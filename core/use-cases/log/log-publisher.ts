import { Context, Duration, Effect, Queue, Ref, Schedule } from "effect";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { SyncMark } from "../../domain/index/sync-report.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";
import { decodeCustodyConfigAccount } from "../../protocol/accounts/settings-accounts.ts";
import { rootOf } from "../../log/tree/frontier.ts";
import { judgeQuorum } from "../../log/policy/quorum.ts";
import { custodyConfigAddress } from "../../protocol/addresses/addresses.ts";
import { monotonicMs } from "../single-flight.ts";
import { Instance } from "../../../ports/instance.ts";
import { LedgerNodes } from "../../../ports/ledger/ledger.ts";
import { LogIdentity, LogSigner } from "../../../ports/log/log-signer.ts";
import type { LogStore } from "../../../ports/log/log-store.ts";
import { SyncEpoch } from "../../../ports/index/sync-lease.ts";
import type { WitnessClient } from "../../../ports/log/log-source.ts";
import {
  isWriter,
  makeCheckpointOffers,
  OFFER_UNCHANGED_EVERY,
  TRY_AGAIN,
} from "./witnesses/checkpoint-offers.ts";
import type { WitnessRecord } from "./witnesses/ask-witness.ts";
import type { GrowingTree } from "./signing/growing-tree.ts";
import type { LogHindrance, SignedHead } from "./log-standing.ts";
import type { AskedPolicy } from "./witness-policies.ts";
import { NodeAgreement } from "./signing/node-agreement.ts";
import { LogRefused, openLog } from "./signing/open-log.ts";
import { SigningLog } from "./signing/signing-log.ts";

/** At most one checkpoint is signed in this time. */
const SIGN_EVERY = Duration.seconds(1);
/** Between two looks whether the operator has rotated keys or ordered the log's end, while nothing grows. */
const LOOK_EVERY = Duration.seconds(2);
/**
 * How long a log that is to end signs nothing, so that its witnesses cosign what it signed last. Witnesses that have
 * not seen that size need a larger one, so it then signs once more.
 */
const HOLD_FOR_MS = Duration.toMillis(Duration.seconds(30));
/** Between two checks of leaves that contradict what was signed: each reads all of them. */
const CHECK_CONTRADICTED_EVERY = Duration.minutes(1);

/** A witness that has not cosigned for this long is missing. At its first offer its node may just be behind. */
const MISSING_AFTER_MS = Duration.toMillis(Duration.seconds(10));

/** What a process does for the log; names are stable. */
export const PUBLISHER_STATES = ["no_key", "starting", "publishing", "standby", "ended"] as const;

/**
 * What this process does for the log: nothing without a key, nothing before its first sync, or publishing. `standby` is
 * a replica beside the one that syncs, which publishes.
 */
export type PublisherState = (typeof PUBLISHER_STATES)[number];

/** How publishing goes in this process. */
export type PublisherStatus = {
  readonly state: PublisherState;
  /** What keeps the log from being published at the index's size, null when nothing does. */
  readonly hindrance: LogHindrance | null;
  /** Names the witnesses and their quorum; null without witnesses, and without the log's key. */
  readonly policy: LogPolicy | null;
  /** By the names of the policy. */
  readonly witnesses: ReadonlyMap<string, WitnessRecord>;
  /** The names of those that have not cosigned for ten seconds, also while the quorum is met. */
  readonly missing: ReadonlyArray<string>;
};

/** Signs and publishes the settlement log's checkpoints. */
export class LogPublisher extends Context.Service<
  LogPublisher,
  {
    /** Says that the index is complete to a mark. Returns at once. */
    readonly grown: (mark: SyncMark) => Effect.Effect<void>;
    /** Says whether another replica syncs the index. Returns at once. */
    readonly standsBy: (isBeside: boolean) => Effect.Effect<void>;
    /** Publishes for as long as it runs; the process runs it once. Fails when this key must not sign this log. */
    readonly run: Effect.Effect<never, LogRefused>;
    readonly status: Effect.Effect<PublisherStatus>;
    /** Takes another policy: the newest checkpoint is offered to its witnesses. */
    readonly setPolicy: (policy: AskedPolicy) => Effect.Effect<void>;
  }
>()("settlement-evidence/core/use-cases/LogPublisher") {}

/** A mark, and the term of the lease under which it was reached. */
type Grown = { readonly mark: SyncMark; readonly epoch: bigint };

/**
 * The process's one `LogPublisher`. `policy` names the witnesses and their quorum; without witnesses every checkpoint
 * is published as it is signed. Without a log key it publishes nothing.
 */
export const makeLogPublisher = Effect.fnUntraced(function* (policy: AskedPolicy | null) {
  const services = yield* Effect.context<LogStore | LogIdentity | WitnessClient>();
  const signer = yield* LogSigner;
  const hindrance = yield* Ref.make<LogHindrance | null>(null);
  const witnesses = yield* Ref.make<ReadonlyMap<string, WitnessRecord>>(new Map());
  const policyRef = yield* Ref.make(policy);
  const offers = yield* makeCheckpointOffers(policyRef, witnesses);
  const state = yield* Ref.make<PublisherState>(signer === null ? "no_key" : "starting");
  /** Whether another replica syncs the index; null where nobody has said. */
  const beside = yield* Ref.make<boolean | null>(null);
  /** One that has published finds out by its term that it is over; one that takes over has not published yet. */
  const stateNow = Effect.gen(function* () {
    const own = yield* Ref.get(state);
    const isBeside = yield* Ref.get(beside);
    if (own === "starting" && isBeside === true) return "standby";
    return own === "standby" && isBeside === false ? "starting" : own;
  });
  const status = Effect.gen(function* () {
    const now = yield* stateNow;
    const nowPolicy = signer === null ? null : yield* Ref.get(policyRef);
    const records = yield* Ref.get(witnesses);
    const sinceMs = (yield* monotonicMs) - MISSING_AFTER_MS;
    const names = (nowPolicy?.witnesses ?? []).map(({ name }) => name);
    const missing = names.filter(
      (name) => now !== "standby" && (records.get(name)?.problemSinceMs ?? Infinity) <= sinceMs,
    );
    const hinders = (yield* Ref.get(hindrance)) ?? (yield* offers.hindrance);
    const others = names.filter((name) => !missing.includes(name));
    const lacks: LogHindrance =
      nowPolicy === null || judgeQuorum(nowPolicy, others).isMet
        ? "witness_missing"
        : "quorum_missing";
    return {
      state: now,
      hindrance: now === "standby" ? null : (hinders ?? (missing.length > 0 ? lacks : null)),
      policy: nowPolicy,
      witnesses: records,
      missing,
    };
  });
  const setPolicy = (next: AskedPolicy) =>
    Effect.andThen(Ref.set(policyRef, next), Effect.asVoid(offers.changed));
  if (signer === null)
    return LogPublisher.of({
      grown: () => Effect.void,
      standsBy: () => Effect.void,
      run: Effect.never,
      status,
      setPolicy,
    });
  const { name, key } = signer;
  const nodes = yield* LedgerNodes;
  const { deployment } = yield* Instance;
  const config = custodyConfigAddress(deployment).address;
  // The only node confirms itself: the mark is what it showed.
  const agreement = nodes.count > 1 ? new NodeAgreement(nodes.count) : null;
  const marks = yield* Queue.sliding<Grown>(1);

  /** Which log the key signs. */
  const open = Effect.gen(function* () {
    const identity = yield* LogIdentity;
    const opened = yield* openLog(name, yield* identity.id, key);
    return new SigningLog(key, yield* identity.networkLeaf, opened);
  });

  /** Reads the log's root from each of several nodes, at `finalized`. */
  const readNodes = Effect.gen(function* () {
    if (agreement === null) return;
    const shown = yield* nodes.readFromEach(config);
    for (const [node, answer] of shown.entries()) {
      const account = answer?.value ?? null;
      const decoded = account === null ? null : decodeCustodyConfigAccount(account, deployment);
      if (decoded === null || "fault" in decoded) continue;
      const { value } = decoded;
      agreement.shown(node, { size: Number(value.count) + 1, root: rootOf(value) });
    }
  });

  /** Up to which size the log may be signed: one that was read at `finalized`; null for none. */
  const agreedSize = Effect.fnUntraced(function* (log: SigningLog, growing: GrowingTree) {
    if (agreement === null) return growing.size();
    yield* readNodes;
    const roots = new Map<number, Hash32>();
    for (const size of agreement.sizesTo(growing.size()))
      roots.set(size, hash32FromBytes(yield* log.rootAt(growing, size)));
    agreement.compare(roots);
    return agreement.agreed();
  });

  /** The head that may be signed now, null for none, and what keeps it from being larger. */
  const signable = Effect.fnUntraced(function* (log: SigningLog, growing: GrowingTree) {
    const size = (yield* agreedSize(log, growing)) ?? 0;
    const isContradicted = (agreement?.contradicted.size ?? 0) > 0;
    const behind: LogHindrance = isContradicted ? "nodes_disagree" : "second_node_behind";
    const hinders = size < growing.size() ? behind : null;
    if (size < (log.last?.size ?? 1)) return { head: log.last, hinders };
    const root = yield* log.rootAt(growing, size);
    yield* growing.keepTo(size);
    const head: SignedHead = { origin: log.origin, size, root: hash32FromBytes(root) };
    return { head, hinders };
  });

  /**
   * One round: grows the tree to a mark, signs what may be signed, offers it. Says what hinders more, null for nothing.
   */
  const round = Effect.fnUntraced(function* (log: SigningLog, mark: SyncMark) {
    const keys = yield* log.keys.take(log.isEnded);
    const { value } = keys;
    yield* log.compare(value);
    if (keys.isDueAnew) yield* offers.renewed;
    if (keys.lack === "all") return "log_key_missing";
    const { last } = log;
    if (last?.isLast || (last !== null && log.isToEnd)) {
      const isPublished = yield* offers.isPublished(last, value?.published ?? null);
      const head = last.isLast || isPublished ? ({ ...last, isLast: true } as const) : last;
      if (yield* offers.isDue(log, head, value?.published ?? null))
        yield* offers.offer(log, yield* log.sign(head));
      if (head.isLast) return "ended";
      const heldMs = (yield* monotonicMs) - log.signedAtMs;
      if (log.growing !== null && heldMs < HOLD_FOR_MS) return "ending";
    }
    const growing = log.isEnded
      ? null
      : yield* log.growTo(mark, value?.signed ?? null, agreement, readNodes);
    if (growing === null) {
      if (log.isEnded) return "ended";
      return log.contradictedSinceMs === null ? "signed_size_not_derived_yet" : "nodes_disagree";
    }
    if (yield* offers.areAhead(growing.size())) return "witnesses_ahead";
    const { head, hinders } = yield* signable(log, growing);
    if (head !== null && (yield* offers.isDue(log, head, value?.published ?? null)))
      yield* offers.offer(log, yield* log.sign(head));
    if (log.isToEnd) return "ending";
    return hinders ?? (keys.lack === null ? null : "log_key_missing");
  });

  /** What ended the last round, as the log tells it; null where none has failed since. */
  let told: string | null = null;

  /** A round that never fails: what hinders it is noted, and each cause told once. */
  const attempt = (log: SigningLog, { mark, epoch }: Grown) =>
    round(log, mark).pipe(
      Effect.provideService(SyncEpoch, epoch),
      Effect.tap(() => {
        const wasTold = told !== null;
        told = null;
        return wasTold ? Effect.logInfo("the settlement log is published again") : Effect.void;
      }),
      Effect.catch((failure) => {
        const { _tag, message: cause } = failure;
        if (_tag === "KeyUnavailable") return Effect.succeed("log_key_unavailable" as const);
        log.growing = null;
        const tried = "the settlement log could not be published, and is tried again";
        const hinders: LogHindrance =
          _tag === "LogKeyUnusable" ? "log_key_unavailable" : "store_or_ledger_unavailable";
        const tell = told === cause ? Effect.logDebug : Effect.logWarning;
        told = cause;
        return Effect.as(tell(tried, { failure: _tag, cause }), hinders);
      }),
      Effect.flatMap((hinders) => Ref.set(hindrance, hinders)),
    );

  /** The next mark, null when none comes in time, or the operator has ordered something. */
  const nextMark = Effect.fnUntraced(function* (log: SigningLog, wait: Duration.Duration) {
    const untilMs = (yield* monotonicMs) + Duration.toMillis(wait);
    for (;;) {
      const restMs = untilMs - (yield* monotonicMs);
      const pause = Duration.min(LOOK_EVERY, Duration.millis(Math.max(0, restMs)));
      const newer = yield* Effect.timeoutOption(Queue.take(marks), pause);
      if (newer._tag === "Some") return newer.value;
      if (restMs <= Duration.toMillis(LOOK_EVERY) || (yield* log.keys.hasOrders)) return null;
    }
  });

  /** Round after round, for as long as it runs. */
  const rounds = Effect.fnUntraced(function* (log: SigningLog) {
    let grown = yield* Queue.take(marks);
    for (;;) {
      while (!(yield* isWriter(grown.epoch))) {
        yield* Ref.set(state, "standby");
        log.growing = null;
        grown = yield* Queue.take(marks);
      }
      yield* attempt(log, grown);
      yield* Ref.set(state, log.isEnded ? "ended" : "publishing");
      yield* Effect.sleep(SIGN_EVERY);
      const isHindered = (yield* Ref.get(hindrance)) !== null && !log.isEnded;
      const tryAgain = log.contradictedSinceMs === null ? TRY_AGAIN : CHECK_CONTRADICTED_EVERY;
      const wait = isHindered ? tryAgain : OFFER_UNCHANGED_EVERY;
      grown = (yield* nextMark(log, wait)) ?? grown;
    }
  });

  const run: Effect.Effect<never, LogRefused> = Effect.gen(function* () {
    const log = yield* open.pipe(
      Effect.tapError(() => Ref.set(hindrance, "store_or_ledger_unavailable")),
      Effect.retry({
        schedule: Schedule.spaced(TRY_AGAIN),
        while: ({ _tag }) => _tag !== "LogRefused",
      }),
      Effect.catchIf((failure) => !(failure instanceof LogRefused), Effect.die),
      Effect.tap(() => Ref.set(hindrance, null)),
    );
    return yield* Effect.raceFirst(rounds(log), offers.run(log));
  }).pipe(Effect.provide(services));
  return LogPublisher.of({
    grown: (mark) =>
      Effect.gen(function* () {
        yield* Queue.offer(marks, { mark, epoch: yield* SyncEpoch });
      }),
    standsBy: (isBeside) => Ref.set(beside, isBeside),
    run,
    status,
    setPolicy,
  });
});
