import { expect, test } from "bun:test";
import { Duration, Effect, Fiber, Layer } from "effect";
import { TestClock } from "effect/testing";
import { outcomeLogMemory } from "../../../../adapters/memory/outcome-log.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { refuseUnseen } from "../../../../core/use-cases/escrow/refuse-contradicted.ts";
import { heldLanding } from "../../../../core/use-cases/relay/outcome/held-landing.ts";
import { readRelayOutcome } from "../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { RelayedEffects, RelayMemory } from "../../../../core/use-cases/relay/relayed-effects.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { JOBS } from "../../../chaos/relay/prepared-jobs.ts";
import { entry, ERROR, indexOfPaid, paid, round, signature } from "./relayed-creation.ts";
import { type RelayChain, relayOver, scriptedPorts } from "./scripted-ledger.ts";

const escrow = JOBS[0]?.[0]?.escrow.address;
if (escrow === undefined) throw new Error("no job");

type Relay = Layer.Success<ReturnType<typeof relayOver>>;

/** What a read of the escrow comes to: the failure's tag and what it contradicts, or null. */
const readAt = Effect.fnUntraced(function* (commitment: "confirmed" | "finalized") {
  const { slot, value } = yield* Ledger.use((ledger) => ledger.readAccounts([escrow], commitment));
  const account = value[0] ?? null;
  const refused = yield* Effect.result(refuseUnseen(escrow, account, { slot, commitment }));
  return refused._tag === "Success" ? null : (refused.failure.contradicts ?? "away");
});

const remembering = <A>(
  steps: (script: RelayChain) => Generator<Effect.Effect<unknown, unknown, Relay>, A, never>,
  index?: ReturnType<typeof indexOfPaid>,
): Promise<A> => {
  const { script, ports } = scriptedPorts(undefined, undefined, index);
  return Effect.gen(() => steps(script)).pipe(
    Effect.provide(relayOver(ports)),
    Effect.provideService(RelayMemory, new RelayedEffects(LOCAL_DEPLOYMENT)),
    Effect.runPromise,
  );
};

const confirm = (script: RelayChain): void =>
  void script.landed.set(signature, { slot: 1985n, commitment: "confirmed", error: null });

/** What the relay confirms of the transaction at its first look. */
const confirmed = Effect.gen(function* () {
  const delivery = yield* RelayDelivery;
  const waiting = yield* Effect.forkChild(delivery.confirmed(signature), {
    startImmediately: true,
  });
  yield* TestClock.adjust(Duration.millis(RELAY_POLICY.confirmPollMs));
  return yield* Fiber.join(waiting);
});

test("an escrow whose creation this relay saw confirmed is not denied, from that slot on", () =>
  remembering(function* (script) {
    const delivery = yield* RelayDelivery;
    // The relay's log is read first.
    yield* TestClock.adjust(Duration.millis(1));
    yield* delivery.accept(entry, null);
    expect(yield* readAt("confirmed")).toBeNull();
    confirm(script);
    yield* confirmed;
    expect(yield* readAt("confirmed")).toBe("relay");
    paid(script);
    expect(yield* readAt("confirmed")).toBeNull();
  }));

test("the index decides once it is complete to that slot", () =>
  remembering(function* (script) {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    confirm(script);
    yield* confirmed;
    expect(yield* readAt("confirmed")).toBeNull();
  }, indexOfPaid()));

test("a creation that expires after a fork dropped it may be denied again", () =>
  remembering(function* (script) {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    confirm(script);
    yield* round;
    expect(yield* readAt("confirmed")).toBe("relay");
    script.landed.clear();
    script.blockHeight = 1215n;
    // What was seen landed is not asked for before it can be final. A round finds it gone, the next one expired.
    yield* TestClock.adjust(Duration.millis(RELAY_POLICY.finalityMs));
    yield* round;
    yield* round;
    expect(yield* readRelayOutcome(signature)).toMatchObject({ status: "expired", nodes: 1 });
    expect(yield* readAt("confirmed")).toBeNull();
  }));

test("a process that starts again denies no escrow whose creation may have been called confirmed", async () => {
  const { ports } = scriptedPorts();
  const before = Effect.tap(OutcomeLog, (log) => Effect.orDie(log.open(entry)));
  const logWith = Layer.effect(OutcomeLog, before).pipe(Layer.provide(outcomeLogMemory));
  const seen = await Effect.gen(function* () {
    // The first round of the new process has not told anything yet.
    yield* TestClock.adjust(Duration.millis(1));
    return { confirmed: yield* readAt("confirmed"), finalized: yield* readAt("finalized") };
  }).pipe(
    Effect.provide(relayOver(ports, logWith)),
    Effect.provideService(RelayMemory, new RelayedEffects(LOCAL_DEPLOYMENT)),
    Effect.runPromise,
  );
  expect(seen).toEqual({ confirmed: "relay", finalized: null });
});

test("a false error in a status is no error: the transaction shows none, or is not shown", () =>
  remembering(function* (script) {
    const status = { slot: 1985n, commitment: "confirmed", error: ERROR } as const;
    script.landed.set(signature, status);
    expect(yield* heldLanding(signature, status)).toMatchObject({ error: ERROR, nodes: 1 });
    script.shownError = null;
    expect(yield* heldLanding(signature, status)).toMatchObject({ error: null, slot: 1985n });
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    expect(yield* readRelayOutcome(signature)).toMatchObject({ status: "landed", error: null });
    script.landed.clear();
    expect(yield* heldLanding(signature, status)).toBeNull();
  }));

test("one node's error is not believed while the accounts show what the transaction would have done", () =>
  remembering(function* (script) {
    const status = { slot: 1985n, commitment: "confirmed", error: ERROR } as const;
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    script.landed.set(signature, status);
    expect(yield* readRelayOutcome(signature)).toMatchObject({ status: "landed", error: ERROR });
    paid(script);
    expect(yield* readRelayOutcome(signature)).toMatchObject({ status: "pending" });
  }));
