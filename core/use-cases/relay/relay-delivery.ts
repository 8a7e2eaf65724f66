import { Context, Duration, Effect, Option, Schedule } from "effect";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { LandedTransaction, RelayEntry } from "../../domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../domain/relay/relay-policy.ts";
import { Broadcaster } from "../../../ports/ledger/broadcaster.ts";
import type { IndexReader } from "../../../ports/index/index-reader.ts";
import type { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { Instance } from "../../../ports/instance.ts";
import { CallPurpose } from "../../../ports/ledger/ledger-calls.ts";
import type { Ledger, LedgerFailure } from "../../../ports/ledger/ledger.ts";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import type { RateLimiter } from "../../../ports/rate-limiter.ts";
import type {
  InstructionBeyondBetaLimit,
  RelayQueueFull,
  RelayRefusal,
  RelayShareFull,
} from "./relay-errors.ts";
import { heldLanding, type HeldLanding } from "./outcome/held-landing.ts";
import { makeRelayQueue } from "./relay-queue.ts";
import { resolveRelays } from "./outcome/resolve-relays.ts";
import { RelayMemory } from "./relayed-effects.ts";
import { makeSingleFlight, monotonicMs } from "../single-flight.ts";

/** How a first sending fails. */
export type SendFailure =
  | RelayRefusal
  | InstructionBeyondBetaLimit
  | LedgerFailure
  | StoreUnavailable;

/** What is written before a transaction is sent. */
type Recorded = "entry" | "key";

/** Sends transactions to the ledger and finds their outcomes, also after the request has ended. */
export class RelayDelivery extends Context.Service<
  RelayDelivery,
  {
    /** Runs the first sending of a signature, one at a time. Concurrent callers get the same result. */
    readonly once: <R>(
      signature: LedgerSignature,
      sending: Effect.Effect<HeldLanding | null, SendFailure, R>,
    ) => Effect.Effect<HeldLanding | null, SendFailure, R>;
    /**
     * Takes a transaction on for a client; null when the client is not known. Records it, sends it, and repeats the
     * sending until its outcome is known. Once recorded it succeeds, whatever the node answers.
     */
    readonly accept: (
      entry: RelayEntry,
      client: string | null,
    ) => Effect.Effect<void, RelayQueueFull | RelayShareFull | StoreUnavailable>;
    /** Follows an entry of the log without an outcome, if the queue has room. */
    readonly follow: (entry: RelayEntry) => Effect.Effect<void>;
    /** Where a transaction landed, after waiting for `confirmed` up to the instance's limit; null when it has not. */
    readonly confirmed: (signature: LedgerSignature) => Effect.Effect<HeldLanding | null>;
    /**
     * A write of the relay's log without which a transaction is not sent: its entry, or before that its key. When it
     * fails the log says so, and `unrecorded`, until one succeeds that `isWritten` and did not just find what was there,
     * or `again`, which is tried every two seconds: the same write, of which nothing stays.
     */
    readonly recording: <A>(
      what: Recorded,
      write: Effect.Effect<A, StoreUnavailable>,
      isWritten: (written: A) => boolean,
      again: Effect.Effect<unknown, StoreUnavailable>,
    ) => Effect.Effect<A, StoreUnavailable>;
    /** Why transactions cannot be recorded; null when they can, as far as the last write has shown. */
    readonly unrecorded: Effect.Effect<StoreUnavailable | null>;
    /** How many transactions are under way. */
    readonly underWay: Effect.Effect<number>;
    /** When the oldest of them was taken on, by the service's clock in milliseconds; null without one. */
    readonly oldestMs: Effect.Effect<number | null>;
  }
>()("settlement-evidence/core/use-cases/RelayDelivery") {}

/** Between two tries to load the entries from before a restart. */
const UNTIL_RESUMED = Duration.millis(100);

const isConfirmed = (landed: LandedTransaction | null): boolean =>
  landed !== null && landed.commitment !== "processed";

/** The process's one `RelayDelivery`. It starts with the log's entries without an outcome and ends with the scope. */
export const makeRelayDelivery = Effect.gen(function* () {
  const scope = yield* Effect.scope;
  const context = yield* Effect.context<
    Broadcaster | IndexReader | Instance | Ledger | OutcomeLog | RateLimiter
  >();
  const broadcaster = yield* Broadcaster;
  const log = yield* OutcomeLog;
  const { confirmTimeoutMs } = yield* Instance;
  const queue = makeRelayQueue();
  const once = makeSingleFlight<HeldLanding | null, SendFailure>(scope);
  const confirmedOnce = makeSingleFlight<HeldLanding | null, never>(scope);
  const memory = yield* RelayMemory;
  let resumed = false;

  /** Loads the entries from before a restart. */
  const resume = Effect.gen(function* () {
    if (resumed) return;
    for (const entry of yield* log.unresolved(RELAY_POLICY.queueCapacity)) {
      queue.resume(entry);
      memory?.resume(entry);
    }
    resumed = true;
    memory?.resumed();
  });

  /** The writes that failed last, with how and what is tried again. Each client gets a problem anyhow. */
  const refused = new Map<
    Recorded,
    {
      readonly failure: StoreUnavailable;
      readonly again: Effect.Effect<unknown, StoreUnavailable>;
    }
  >();
  const recording: RelayDelivery["Service"]["recording"] = (what, write, isWritten, again) =>
    write.pipe(
      Effect.tapError((failure) => {
        const isNews = refused.size === 0;
        refused.set(what, { failure, again });
        const { message: cause } = failure;
        return isNews
          ? Effect.logError("nothing is relayed, because it cannot be recorded", { cause })
          : Effect.void;
      }),
      Effect.tap((written) =>
        isWritten(written) && refused.delete(what) && refused.size === 0
          ? Effect.logInfo("transactions are recorded and relayed again")
          : Effect.void,
      ),
    );
  /** Finds out whether the store takes writes again, also while nobody relays. */
  const tryToRecord = Effect.suspend(() =>
    Effect.forEach([...refused], ([what, { again }]) =>
      Effect.ignore(recording(what, again, () => true, again)),
    ),
  ).pipe(Effect.catchCause((cause) => Effect.logError("a trial of the relay's log failed", cause)));

  const round = resolveRelays(queue).pipe(
    Effect.catchTag("StoreUnavailable", ({ cause }) =>
      Effect.logWarning("the relay's log is not available", { cause: String(cause) }),
    ),
    Effect.catchCause((cause) => Effect.logError("a round of the relay failed", cause)),
  );
  yield* resume.pipe(
    // The store may not be open yet, and until then nothing that may have been confirmed is denied.
    Effect.retry(Schedule.spaced(UNTIL_RESUMED)),
    Effect.andThen(round),
    Effect.repeat(Schedule.spaced(Duration.millis(RELAY_POLICY.rebroadcastMs))),
    Effect.provideService(CallPurpose, "relay"),
    Effect.provide(context),
    Effect.forkIn(scope),
  );
  // Apart from the rounds, which a store that takes its time to refuse must not hold up.
  yield* tryToRecord.pipe(
    Effect.repeat(Schedule.spaced(Duration.millis(RELAY_POLICY.rebroadcastMs))),
    Effect.forkIn(scope),
  );

  /** A landing as far as it is believed. Its status also tells the rounds whether the entry waits for finality alone. */
  const look = (signature: LedgerSignature) =>
    broadcaster.landed(signature).pipe(
      Effect.tap((landed) =>
        Effect.map(monotonicMs, (nowMs) => queue.seen(signature, landed, nowMs)),
      ),
      Effect.orElseSucceed(() => null),
      Effect.tap((landed) => Effect.sync(() => memory?.landed(signature, landed))),
      Effect.flatMap((landed) => heldLanding(signature, landed)),
    );

  /** Looks until a landing is `confirmed`, more and more seldom: each look costs the operator a call. */
  const untilConfirmed = Effect.fnUntraced(function* (signature: LedgerSignature) {
    let waitMs: number = RELAY_POLICY.confirmPollMs;
    for (let looks = 0; ; looks++) {
      // Right after the sending nothing has landed yet.
      yield* Effect.sleep(Duration.millis(waitMs));
      const landed = yield* look(signature);
      if (isConfirmed(landed)) return landed;
      if (looks > 0)
        waitMs = Math.min(RELAY_POLICY.rebroadcastMs, waitMs * RELAY_POLICY.confirmPollFactor);
    }
  });

  const awaitConfirmation = (signature: LedgerSignature) =>
    untilConfirmed(signature).pipe(
      Effect.timeoutOption(Duration.millis(confirmTimeoutMs)),
      Effect.map(Option.getOrElse(() => null)),
      Effect.provide(context),
    );

  return RelayDelivery.of({
    once,
    accept: Effect.fn("RelayDelivery.accept")(function* (entry: RelayEntry, client) {
      yield* queue.admit(entry, client);
      yield* recording("entry", log.open(entry), (isNew) => isNew, log.tryOpen(entry)).pipe(
        Effect.onError(() => Effect.sync(() => queue.remove(entry))),
      );
      memory?.take(entry);
      queue.sent(entry, yield* monotonicMs);
      yield* Effect.ignore(broadcaster.submit(entry.transaction));
    }),
    follow: (entry) =>
      Effect.sync(() => {
        queue.follow(entry);
        memory?.take(entry);
      }),
    confirmed: (signature) => confirmedOnce(signature, awaitConfirmation(signature)),
    recording,
    unrecorded: Effect.sync(() => [...refused.values()][0]?.failure ?? null),
    underWay: Effect.sync(queue.size),
    oldestMs: Effect.sync(queue.oldestMs),
  });
});
