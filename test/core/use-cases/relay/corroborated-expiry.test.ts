import { ZERO_ADDRESS } from "../../../../core/domain/address.ts";
import { expect, test } from "bun:test";
import { Duration, Effect } from "effect";
import { TestClock } from "effect/testing";
import type { RelayEntry } from "../../../../core/domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { readRelayOutcome } from "../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { JOBS } from "../../../chaos/relay/prepared-jobs.ts";
import { decodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { EARLIER, relayOver, type ScriptedLedger, scriptedPorts } from "./scripted-ledger.ts";

const [attempt, other] = JOBS[0] ?? [];
if (attempt === undefined || other === undefined) throw new Error("no job");

const decoded = (base64: string) => {
  const transaction = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  if ("malformed" in transaction) throw new Error(transaction.malformed);
  return transaction.value;
};
const transaction = decoded(attempt.base64);
const { signature } = transaction;
const rival = decoded(other.base64).signature;

const entry: RelayEntry = {
  signature,
  transaction: transaction.bytes,
  feePayer: transaction.feePayer,
  lastValidBlockHeight: 1150n,
  openedAtSlot: 1995n,
  openedAtMs: 0,
  outcome: null,
};
const round = TestClock.adjust(Duration.millis(RELAY_POLICY.rebroadcastMs));

/** What the relay says once no status shows the transaction, and how many are under way then. */
const told = (setUp: (script: ScriptedLedger) => void, height = 1215n) => {
  const { script, ports } = scriptedPorts();
  return Effect.gen(function* () {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    setUp(script);
    script.blockHeight = height;
    yield* round;
    const underWay = yield* delivery.underWay;
    const { status, safeToSignAgain, supersededBy, recreatableEscrow, error, slot } =
      yield* readRelayOutcome(signature);
    expect(recreatableEscrow).toBe(attempt.escrow.address);
    return { status, safeToSignAgain, supersededBy, error, slot, underWay };
  }).pipe(Effect.provide(relayOver(ports)), Effect.runPromise);
};
/** The escrow exists, as the transaction would have left it. */
const paid = (script: ScriptedLedger): void =>
  void script.accounts.set(attempt.escrow.address, attempt.escrow);
const listing = (...entries: ReadonlyArray<Partial<typeof EARLIER>>) =>
  entries.map((each) => ({ ...EARLIER, ...each }));

const PENDING = { status: "pending", safeToSignAgain: false } as const;
const EXPIRED = { status: "expired", safeToSignAgain: true, supersededBy: null } as const;

test("expired: the escrow is not there, and a list from before the sending does not name the transaction", async () => {
  expect(await told(() => undefined)).toMatchObject({ ...EXPIRED, underWay: 0 });
});

test("a node that shows only the newest statuses does not make a payment that landed safe to sign again", async () => {
  expect(await told(paid)).toMatchObject(PENDING);
});

test("its list tells that it landed, and how it failed", async () => {
  const landed = { signature, slot: 2001n };
  const succeeded = await told((script) => {
    paid(script);
    script.listed = listing(landed, EARLIER);
  });
  expect(succeeded).toMatchObject({ status: "landed", slot: 2001n, error: null });
  const error = {
    kind: "InstructionError",
    instructionIndex: 0,
    instructionError: "Custom",
    customCode: 6018,
  };
  const failed = await told((script) => {
    script.listed = listing({ ...landed, failed: true, error }, EARLIER);
  });
  expect(failed).toMatchObject({ status: "landed", error, safeToSignAgain: true });
});

test("a node that lists nothing from before the sending proves nothing", async () => {
  for (const entries of [[], listing({ slot: 1996n })])
    expect(await told((script) => void (script.listed = entries))).toMatchObject(PENDING);
});

/** The escrow was made by another transaction since the first sending. */
const superseded = (script: ScriptedLedger): void => {
  paid(script);
  script.transactions.set(rival, {
    signature: rival,
    slot: 1999n,
    failed: false,
    signers: new Set(),
    accounts: [],
    instructions: transaction.instructions.map(({ program, accounts, data }) => ({
      program,
      accounts: accounts.map((place) => transaction.staticAccounts[place] ?? ZERO_ADDRESS),
      data,
    })),
    hasCalls: true,
  });
};
const rivals = { signature: rival, slot: 1999n };

test("another transaction that made the escrow is named, and the payment is not made twice", async () => {
  const outcome = await told((script) => {
    superseded(script);
    script.listed = listing(rivals, EARLIER);
  });
  expect(outcome).toMatchObject({ ...EXPIRED, supersededBy: rival });
});

test("where another transaction made the escrow, the fee payer's list tells whether this one had failed before", async () => {
  const payersList = (...entries: ReadonlyArray<Partial<typeof EARLIER>>) =>
    told((script) => {
      superseded(script);
      script.listed = listing(rivals);
      script.listedOf.set(transaction.feePayer, listing(...entries));
    });
  expect(await payersList(rivals, EARLIER)).toMatchObject({ ...EXPIRED, supersededBy: rival });
  expect(await payersList(rivals)).toMatchObject(PENDING);
  const failed = { signature, slot: 1997n, failed: true };
  expect(await payersList(rivals, failed, EARLIER)).toMatchObject({
    status: "landed",
    slot: 1997n,
  });
});

test("just beyond the last valid height a lagging list proves nothing", async () => {
  expect(await told(() => undefined, 1214n)).toMatchObject({ ...PENDING, underWay: 1 });
});

test("without getFirstAvailableBlock the lists decide, and what they cannot tell leaves the queue", async () => {
  const mute = (script: ScriptedLedger): void => {
    script.historyStart = null;
  };
  expect(await told(mute)).toMatchObject({ ...EXPIRED, underWay: 0 });
  const forgetful = (script: ScriptedLedger): void => {
    mute(script);
    script.listed = [];
  };
  expect(await told(forgetful)).toMatchObject({ ...PENDING, underWay: 1 });
  const last = 1150n + RELAY_POLICY.queueBlocks;
  expect(await told(forgetful, last)).toMatchObject({ ...PENDING, underWay: 1 });
  expect(await told(forgetful, last + 1n)).toMatchObject({ ...PENDING, underWay: 0 });
});

test("an entry that nobody can tell about leaves the queue after an hour, also when no block height moves", () => {
  const { ports } = scriptedPorts();
  return Effect.gen(function* () {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    yield* TestClock.adjust(Duration.millis(RELAY_POLICY.queueMs - RELAY_POLICY.rebroadcastMs));
    expect(yield* delivery.underWay).toBe(1);
    yield* round;
    yield* round;
    expect(yield* delivery.underWay).toBe(0);
    expect(yield* readRelayOutcome(signature)).toMatchObject(PENDING);
  }).pipe(Effect.provide(relayOver(ports)), Effect.runPromise);
});
