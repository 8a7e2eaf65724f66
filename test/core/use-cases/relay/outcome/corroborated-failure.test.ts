import { expect, test } from "bun:test";
import { Duration, Effect } from "effect";
import { TestClock } from "effect/testing";
import { RELAY_POLICY } from "../../../../../core/domain/relay/relay-policy.ts";
import { readRelayOutcome } from "../../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../../core/use-cases/relay/relay-delivery.ts";
import { relayTransaction } from "../../../../../core/use-cases/relay/relay-transaction.ts";
import { encodeBase64 } from "../../../../../core/domain/encoding/base64.ts";
import {
  entry,
  ERROR,
  listing,
  paid,
  rival,
  round,
  shown,
  signature,
  indexOfPaid,
  superseded,
  told,
} from "../relayed-creation.ts";
import { EARLIER, type RelayChain, relaying } from "../scripted-ledger.ts";

/** A status says that the creation failed at a finalized slot. */
const saysFailed = (script: RelayChain): void =>
  void script.landed.set(signature, { slot: 1999n, commitment: "finalized", error: ERROR });
const failedInHistory = (script: RelayChain): void => script.record(shown(signature, true));

/** What the relay says one round after a status said so and the ledger was set up. */
const failing = (
  setUp: (script: RelayChain) => void,
  height?: bigint,
  index?: ReturnType<typeof indexOfPaid>,
) =>
  told(
    (script) => {
      saysFailed(script);
      setUp(script);
    },
    height,
    index,
  );

/** The error is told as the status tells it, and nobody may pay again because of it. */
const UNPROVEN = {
  status: "landed",
  commitment: "confirmed",
  error: ERROR,
  safeToSignAgain: false,
  underWay: 1,
} as const;
const FAILED = {
  status: "landed",
  commitment: "finalized",
  slot: 1999n,
  error: ERROR,
  safeToSignAgain: true,
  underWay: 0,
} as const;
/** The first height at which the creation can surely land no more. */
const LATE = 1215n;

test("a failure is certain once the history holds it and the escrow is not there", async () => {
  expect(await failing(failedInHistory)).toMatchObject(FAILED);
});

test("a failure is not believed of a node that hides the escrow which the index proves", async () => {
  for (const height of [1000n, LATE])
    expect(await failing(failedInHistory, height, indexOfPaid())).toMatchObject(UNPROVEN);
});

test("a status alone proves nothing while the creation can still land", async () => {
  expect(await failing(() => undefined)).toMatchObject(UNPROVEN);
  expect(await failing(() => undefined, LATE - 1n)).toMatchObject(UNPROVEN);
});

test("without any history a failure is certain once the creation can land no more and the escrow is not there", async () => {
  expect(await failing((script) => void (script.listed = []), LATE)).toMatchObject(FAILED);
});

test("a false failure is not believed while the escrow is there, whatever else agrees with it", async () => {
  const listed = { signature, slot: 1999n };
  for (const height of [1000n, LATE]) {
    const told = [
      await failing((script) => {
        paid(script);
        script.listed = listing(listed, EARLIER);
      }, height),
      await failing((script) => {
        paid(script);
        script.listed = listing(listed, EARLIER);
        script.record(shown(signature, false));
      }, height),
      await failing((script) => {
        paid(script);
        failedInHistory(script);
      }, height),
    ];
    for (const outcome of told) expect(outcome).toMatchObject(UNPROVEN);
  }
});

test("a history in which the creation succeeded contradicts the failure, though the escrow is not seen", async () => {
  const outcome = await failing((script) => {
    script.record(shown(signature, false));
  }, LATE);
  expect(outcome).toMatchObject(UNPROVEN);
});

test("an escrow that another transaction made does not contradict the failure", async () => {
  const outcome = await failing((script) => {
    superseded(script);
    failedInHistory(script);
    script.listed = listing({ signature: rival, slot: 1998n }, EARLIER);
  });
  expect(outcome).toMatchObject(FAILED);
});

test("when the false status is corrected, the outcome is the true one", () =>
  relaying(function* (script) {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    saysFailed(script);
    paid(script);
    yield* round;
    script.landed.set(signature, { slot: 1999n, commitment: "finalized", error: null });
    yield* round;
    expect(yield* delivery.underWay).toBe(0);
    expect(yield* readRelayOutcome(signature)).toMatchObject({
      status: "landed",
      error: null,
      safeToSignAgain: false,
    });
  }));

test("an entry whose failure nobody can prove leaves the queue, and stays unsafe", () =>
  relaying(function* (script) {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    saysFailed(script);
    paid(script);
    script.blockHeight = entry.lastValidBlockHeight + RELAY_POLICY.queueBlocks + 1n;
    yield* round;
    expect(yield* delivery.underWay).toBe(0);
    expect(yield* readRelayOutcome(signature)).toMatchObject({ safeToSignAgain: false });
    yield* TestClock.adjust(Duration.hours(2));
    expect(yield* readRelayOutcome(signature)).toMatchObject({ safeToSignAgain: false });
  }));

test("a signature that this relay has not taken on is never safe to sign again because of a status", () =>
  relaying(function* (script) {
    saysFailed(script);
    expect(yield* readRelayOutcome(signature)).toMatchObject({
      status: "landed",
      commitment: "confirmed",
      error: ERROR,
      safeToSignAgain: false,
    });
    const refusal = yield* Effect.flip(
      relayTransaction({
        signedTransaction: encodeBase64(entry.transaction),
        confirm: true,
        skipPreflight: false,
      }),
    );
    expect(refusal).toMatchObject({
      _tag: "TransactionRejected",
      landed: { commitment: "confirmed", error: ERROR },
    });
  }));
