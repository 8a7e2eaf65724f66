import { Clock, Duration, Effect, Exit, Fiber, Layer, Logger, Scope } from "effect";
import { TestClock } from "effect/testing";
import { outcomeLogMemory } from "../../../adapters/memory/outcome-log.ts";
import { parseLedgerSignature } from "../../../core/domain/ledger/signature.ts";
import { RELAY_POLICY } from "../../../core/domain/relay/relay-policy.ts";
import type { TransactionError } from "../../../core/domain/relay/relay-entry.ts";
import { CLOCK_SYSVAR } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { readRelayOutcome } from "../../../core/use-cases/relay/read-relay-outcome.ts";
import { makeRelayDelivery, RelayDelivery } from "../../../core/use-cases/relay/relay-delivery.ts";
import { relayTransaction } from "../../../core/use-cases/relay/relay-transaction.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { Instance } from "../../../ports/instance.ts";
import { OutcomeLog } from "../../../ports/outcome-log.ts";
import { RateLimiter } from "../../../ports/rate-limiter.ts";
import { testInstance } from "../../core/use-cases/test-instance.ts";
import { clockAccount, walletAccount } from "../../doubles/accounts.ts";
import { indexWithoutRows } from "../../doubles/index-without-rows.ts";
import * as s from "../../programs/fixture/settlement.ts";
import { type Attempt, JOBS, MERCHANT_ACCOUNT, SAME_ESCROW_JOB } from "./prepared-jobs.ts";
import { seededRandom, type SeededRandom } from "./seeded-random.ts";
import { FINALIZED_AFTER, simulatedChain, type Weather } from "./simulated-chain.ts";
import { CALM, type NodeManners, simulatedNode } from "./simulated-node.ts";
import { patientClock } from "../../doubles/patient-clock.ts";

const FINE: Weather = { skippedSlots: 0.02, inclusion: 0.9, forks: 0, deepForks: 0 };
const STEP_MS = 2_500;
/** The longest run. Most end earlier, when nothing is under way. */
const LONGEST_MS = 420_000;
/** Blocks beyond those after which an outcome is certain, within which calm nodes tell it: half a minute and more. */
const CLOSED_AFTER = RELAY_POLICY.expiryMarginBlocks + BigInt(FINALIZED_AFTER) + 80n;

/** A statement of the relay about a transaction that must stay true. */
type Claim = {
  readonly signature: string;
  readonly said: "expired" | "finalized" | "safe" | "superseding";
  readonly error: TransactionError | null;
  readonly slot: bigint | null;
};

/** The faults of a run, empty when there are none, and all statements in order. */
export type SimulationResult = {
  readonly faults: ReadonlyArray<string>;
  readonly trace: ReadonlyArray<string>;
  readonly outcomes: Readonly<Record<"paid" | "failed" | "expired" | "open", number>>;
};

const limiter = RateLimiter.of({
  take: (_budget, _client, _cost) =>
    Effect.succeed({ allowed: true, limit: 9, windowSeconds: 60, remaining: 9, resetSeconds: 1 }),
  charge: () => Effect.void,
  limits: { reads: 9, prepare: 9, relay: 9, sync: 9 },
  windowSeconds: 60,
});

/** A store that may fail before or after it has done its work. */
const unreliable = (log: OutcomeLog["Service"], random: SeededRandom, rough: () => boolean) => {
  const lose = () => rough() && random.chance(0.04);
  const failed = new StoreUnavailable({ retryable: true, cause: "simulated" });
  const faulty = <A>(
    work: Effect.Effect<A, StoreUnavailable>,
  ): Effect.Effect<A, StoreUnavailable> =>
    Effect.suspend(() => {
      if (lose()) return Effect.fail(failed);
      return lose() ? Effect.andThen(work, Effect.fail(failed)) : work;
    });
  return OutcomeLog.of({
    open: (entry) => faulty(log.open(entry)),
    tryOpen: (entry) => faulty(log.tryOpen(entry)),
    resolve: (signature, outcome) => faulty(log.resolve(signature, outcome)),
    find: (signature) => faulty(log.find(signature)),
    unresolved: (limit) => faulty(log.unresolved(limit)),
    claimKey: (use) => faulty(log.claimKey(use)),
    answerKey: (use, answer) => faulty(log.answerKey(use, answer)),
  });
};

/** The real relay over a simulated ledger and store, used by agents that retry everything. */
export const simulateRelay = (seed: number): Promise<SimulationResult> => {
  const random = seededRandom(seed);
  const roughUntilMs = random.between(20, 150) * 1000;
  const weather: Weather = {
    skippedSlots: random.between(0, 10) / 100,
    inclusion: random.between(30, 95) / 100,
    forks: random.between(0, 6) / 100,
    deepForks: random.chance(0.4) ? 0.03 : 0,
  };
  const manners: NodeManners = {
    unavailable: random.between(0, 25) / 100,
    hangs: random.between(0, 8) / 100,
    mostLagSlots: random.chance(0.5) ? random.between(1, 12) : random.between(12, 30),
    // In some runs nearly all transactions are lost, so that some expire.
    losses: random.chance(0.5) ? random.between(90, 100) / 100 : random.between(0, 60) / 100,
    duplicates: random.between(0, 40) / 100,
    lostAnswers: random.between(0, 40) / 100,
    mostDelaySlots: random.chance(0.3) ? 170 : 4,
    statusSlots: random.chance(0.4) ? random.between(20, 160) : Infinity,
    saysHistoryStart: random.chance(0.8),
    listSlots: random.chance(0.3) ? random.between(0, 400) : Infinity,
  };
  // How the nodes remember does not change when they recover.
  const { statusSlots, saysHistoryStart, listSlots } = manners;
  const calm: NodeManners = { ...CALM, statusSlots, saysHistoryStart, listSlots };
  // In some runs the nodes drop all earlier history at some time.
  const forgetsAtMs = random.chance(0.2) ? random.between(30, 150) * 1000 : LONGEST_MS;
  const jobs = [
    ...JOBS.slice(0, random.between(1, JOBS.length)),
    ...(random.chance(0.4) ? [SAME_ESCROW_JOB] : []),
  ];
  const errors = new Map<string, TransactionError | null>();
  for (const { signature } of jobs.flat())
    errors.set(
      signature,
      random.chance(0.25)
        ? {
            kind: "InstructionError",
            instructionIndex: 0,
            instructionError: "Custom",
            customCode: 6018,
          }
        : null,
    );

  const trace: Array<string> = [];
  const claims: Array<Claim> = [];
  const faults: Array<string> = [];

  const program = Effect.gen(function* () {
    let rough = true;
    const chain = simulatedChain(random, () => (rough ? weather : FINE));
    const attempts = jobs.flat();
    const bySignature = new Map<string, Attempt>(attempts.map((each) => [each.signature, each]));
    const ofEscrow = Map.groupBy(attempts, ({ escrow }) => escrow.address);
    const ofPayer = Map.groupBy(attempts, ({ feePayer }) => feePayer);
    const node = simulatedNode({
      random,
      chain,
      manners: () => (rough ? manners : calm),
      errorOf: (signature) => errors.get(signature) ?? null,
      accountAt: (address, slot) => {
        if (address === CLOCK_SYSVAR) return clockAccount(s.START + 60n);
        if (address === MERCHANT_ACCOUNT.address) return MERCHANT_ACCOUNT;
        const creations = ofEscrow.get(address);
        if (creations === undefined) return walletAccount(address, 10n ** 9n);
        const made = creations.find(({ signature }) => {
          const landed = chain.landed(signature, slot);
          return landed !== null && landed.error === null;
        });
        return made?.escrow ?? null;
      },
      naming: (address) => ofEscrow.get(address) ?? ofPayer.get(address) ?? [],
      attemptOf: (signature) => bySignature.get(signature),
      historyStart: () => (chain.slot() * 400 < forgetsAtMs ? 0 : forgetsAtMs / 400),
    });
    const kept = yield* Layer.build(outcomeLogMemory);
    const log = unreliable(yield* Effect.provide(OutcomeLog, kept), random, () => rough);
    const ports = yield* Layer.build(
      Layer.mergeAll(
        node,
        Layer.succeed(OutcomeLog, log),
        Layer.succeed(IndexReader, indexWithoutRows()),
        Layer.succeed(RateLimiter, limiter),
        Layer.succeed(Instance, { ...testInstance(), confirmTimeoutMs: 6_000 }),
      ),
    );

    const start = Effect.gen(function* () {
      const scope = yield* Scope.make();
      const delivery = yield* makeRelayDelivery.pipe(Effect.provide(ports), Scope.provide(scope));
      return { scope, delivery };
    });
    let process: Effect.Success<typeof start> | null = yield* start;
    /** One request to the running process. A kill cuts it off. */
    const ask = <A, E, R>(work: Effect.Effect<A, E, R>) =>
      Effect.suspend(() =>
        process === null
          ? Effect.interrupt
          : work.pipe(Effect.provideService(RelayDelivery, process.delivery)),
      ).pipe(Effect.provide(ports), Effect.exit);

    const say = Effect.fnUntraced(function* (words: string) {
      trace.push(`${yield* Clock.currentTimeMillis} ${words}`);
    });
    const told = <A, E>(exit: Exit.Exit<A, E>): string => {
      if (Exit.isSuccess(exit)) return "ok";
      const failure = Exit.findErrorOption(exit);
      return failure._tag === "Some" ? (failure.value as { _tag: string })._tag : "cut off";
    };

    const post = Effect.fnUntraced(function* (attempt: Attempt, key: string) {
      const exit = yield* ask(
        relayTransaction({
          signedTransaction: attempt.base64,
          confirm: random.chance(0.3),
          skipPreflight: random.chance(0.3),
          client: "agent",
          ...(random.chance(0.3) ? { idempotencyKey: key } : {}),
        }),
      );
      yield* say(`post ${attempt.signature.slice(0, 6)} ${told(exit)}`);
      if (Exit.isSuccess(exit)) {
        const { status, slot } = exit.value;
        const { signature } = attempt;
        if (status === "finalized")
          claims.push({ signature, said: "finalized", error: null, slot });
        return;
      }
      const failure = Exit.findErrorOption(exit);
      if (failure._tag === "Some" && failure.value._tag === "TransactionRejected") {
        const { landed, error, signature } = failure.value;
        if (landed?.commitment === "finalized")
          claims.push({ signature, said: "finalized", error, slot: landed.slot });
      }
    });

    const agent = Effect.fnUntraced(function* (job: number, attempts: ReadonlyArray<Attempt>) {
      const isOneEscrow = attempts === SAME_ESCROW_JOB;
      for (const [n, attempt] of attempts.entries()) {
        yield* Effect.sleep(Duration.millis(random.between(0, 8_000)));
        chain.setBlockhash(
          attempt.blockhash,
          random.chance(0.2) ? random.between(100, 160) : random.between(0, 8),
        );
        let posts = 0;
        for (let asked = 0; asked < 60; asked++) {
          if (posts < 4 || random.chance(0.2)) {
            const copies = random.chance(0.2) ? 3 : 1;
            yield* Effect.all(
              Array.from({ length: copies }, () => post(attempt, `${job}/${n}`)),
              { concurrency: "unbounded" },
            );
            posts += 1;
          }
          yield* Effect.sleep(Duration.millis(random.between(1_000, 6_000)));
          const signature = parseLedgerSignature(attempt.signature);
          if (signature === undefined) throw new Error("no signature");
          const exit = yield* ask(readRelayOutcome(signature));
          if (Exit.isFailure(exit)) {
            yield* say(`get ${signature.slice(0, 6)} ${told(exit)}`);
            continue;
          }
          const { status, commitment, error, slot, safeToSignAgain, supersededBy } = exit.value;
          const { recreatableEscrow } = exit.value;
          yield* say(`get ${signature.slice(0, 6)} ${status} ${commitment} ${safeToSignAgain}`);
          if (status === "expired")
            claims.push({ signature, said: "expired", error: null, slot: null });
          if (supersededBy !== null)
            claims.push({ signature: supersededBy, said: "superseding", error: null, slot: null });
          if (recreatableEscrow !== null && recreatableEscrow !== attempt.escrow.address)
            faults.push(`${signature.slice(0, 6)} creates another escrow than it is said to`);
          // The escrow may be created again at any time. An agent of such a job does so when it is tired of waiting.
          if (isOneEscrow && recreatableEscrow !== null && random.chance(0.1)) break;
          if (commitment === "finalized")
            claims.push({ signature, said: "finalized", error, slot });
          if (safeToSignAgain) {
            claims.push({ signature, said: "safe", error, slot });
            break;
          }
          if (status === "landed" && commitment === "finalized") return;
        }
        const last = claims.findLast(({ signature }) => signature === attempt.signature);
        // An agent that was not told that it is safe does not sign again, unless for the same escrow.
        if (last?.said !== "safe" && !isOneEscrow) return;
      }
    });

    const agents = yield* Effect.forkChild(
      Effect.forEach(jobs, (attempts, job) => agent(job, attempts), { concurrency: "unbounded" }),
    );
    const killsAt = Array.from(
      { length: random.between(0, 3) },
      () => random.between(1, 90) * 1000,
    );
    let idleSteps = 0;
    let restartAtMs = LONGEST_MS;
    for (let nowMs = 0; nowMs < LONGEST_MS; nowMs += STEP_MS) {
      rough = nowMs < roughUntilMs;
      yield* TestClock.adjust(Duration.millis(STEP_MS));
      chain.advanceTo(Math.floor((nowMs + STEP_MS) / 400));
      if (killsAt.some((at) => at >= nowMs && at < nowMs + STEP_MS)) {
        yield* say("kill");
        if (process !== null) yield* Scope.close(process.scope, Exit.void);
        process = null;
        restartAtMs = nowMs + random.between(0, random.chance(0.3) ? 120 : 5) * 1000;
      }
      if (process === null && nowMs >= restartAtMs) process = yield* start;
      const idle =
        agents.pollUnsafe() !== undefined &&
        process !== null &&
        (yield* process.delivery.underWay) === 0;
      // A restarted process first reads its open entries.
      idleSteps = idle && !rough ? idleSteps + 1 : 0;
      if (idleSteps > 3) break;
    }
    rough = false;
    yield* Fiber.interrupt(agents);
    if (process !== null) yield* Scope.close(process.scope, Exit.void);
    const endHeight = BigInt(chain.heightAt(chain.slot()));
    const slot = chain.slot() + 400;
    chain.advanceTo(slot);

    for (const { signature, said, error, slot: saidSlot } of claims) {
      const truth = chain.landed(signature, slot);
      const name = signature.slice(0, 6);
      if (said === "expired" && truth !== null)
        faults.push(`${name} was said to expire and landed`);
      if (said === "safe" && truth !== null && truth.error === null)
        faults.push(`${name} was said to be safe to sign again and has paid`);
      if (said === "superseding" && (truth === null || truth.error !== null))
        faults.push(`${name} was said to have done what another one would have done`);
      if (said !== "finalized") continue;
      if (truth === null || truth.slot !== saidSlot)
        faults.push(`${name} was said to be finalized in a slot that does not hold it`);
      else if (JSON.stringify(truth.error) !== JSON.stringify(error))
        faults.push(`${name} was said to end with another error`);
    }
    for (const [job, each] of jobs.entries()) {
      const paid = each.filter(({ signature }) => {
        const truth = chain.landed(signature, slot);
        return truth !== null && truth.error === null;
      });
      if (paid.length > 1) faults.push(`job ${job} was paid ${paid.length} times`);
    }
    const counts = { paid: 0, failed: 0, expired: 0, open: 0 };
    const stored = yield* Effect.provide(OutcomeLog, kept);
    for (const { signature } of attempts) {
      const parsed = parseLedgerSignature(signature);
      const entry = parsed === undefined ? null : yield* stored.find(parsed);
      if (entry === null) continue;
      const truth = chain.landed(signature, slot);
      const { outcome } = entry;
      if (outcome === null) {
        counts.open += 1;
        const isOverdue = endHeight > entry.lastValidBlockHeight + CLOSED_AFTER;
        if (isOverdue && forgetsAtMs === LONGEST_MS && listSlots === Infinity)
          faults.push(`${signature.slice(0, 6)} is still open at the end`);
      } else if ((outcome.status === "landed") !== (truth !== null))
        faults.push(`${signature.slice(0, 6)} is recorded as ${outcome.status}, which is wrong`);
      else if (outcome.status === "expired") counts.expired += 1;
      else if (outcome.error === null) counts.paid += 1;
      else counts.failed += 1;
    }
    return { faults, trace, outcomes: counts };
  });
  return Effect.runPromise(
    program.pipe(Effect.scoped, Effect.provide(Layer.merge(patientClock(), Logger.layer([])))),
  );
};
