import { expect, test } from "bun:test";
import { Duration } from "effect";
import { TestClock } from "effect/testing";
import { RELAY_POLICY } from "../../../../../core/domain/relay/relay-policy.ts";
import { readRelayOutcome } from "../../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../../core/use-cases/relay/relay-delivery.ts";
import {
  entry,
  ERROR,
  EXPIRED,
  feePayer,
  indexOfPaid,
  listing,
  paid,
  PENDING,
  rival,
  round,
  signature,
  superseded,
  told,
} from "../relayed-creation.ts";
import { EARLIER, type RelayChain, relaying } from "../scripted-ledger.ts";

/** What the relay says once no status shows the transaction, one block after its expiry can be told. */
const late = (setUp: (script: RelayChain) => void, height = 1215n) => told(setUp, height);

test("expired: the escrow is not there, and a list from before the blockhash existed does not name the transaction", async () => {
  expect(await late(() => undefined)).toMatchObject({ ...EXPIRED, underWay: 0 });
});

test("a node that shows only the newest statuses does not make a payment that landed safe to sign again", async () => {
  expect(await late(paid)).toMatchObject(PENDING);
});

test("a node that hides an escrow which the index proves does not make its payment safe to sign again", async () => {
  expect(await told(() => undefined, 1215n, indexOfPaid())).toMatchObject({
    ...PENDING,
    underWay: 1,
  });
  // The same payment made by another transaction is told once the node shows the escrow.
  const shown = await told(
    (script) => {
      superseded(script);
      script.listed = listing(rivals, EARLIER);
    },
    1215n,
    indexOfPaid(),
  );
  expect(shown).toMatchObject({ ...EXPIRED, supersededBy: rival });
});

test("its list tells that it landed, and how it failed", async () => {
  const landed = { signature, slot: 2001n };
  const succeeded = await late((script) => {
    paid(script);
    script.listed = listing(landed, EARLIER);
  });
  expect(succeeded).toMatchObject({ status: "landed", slot: 2001n, error: null });
  const failed = await late((script) => {
    script.listed = listing({ ...landed, failed: true, error: ERROR }, EARLIER);
  });
  expect(failed).toMatchObject({ status: "landed", error: ERROR, safeToSignAgain: true });
});

test("a node that lists nothing from before the blockhash existed proves nothing", async () => {
  for (const entries of [[], listing({ slot: 1696n })])
    expect(await late((script) => void (script.listed = entries))).toMatchObject(PENDING);
});

test("a node that forgot the slots in which its payer may have sent it elsewhere proves nothing", async () => {
  const forgetful = await late((script) => {
    script.historyStart = 1994n;
    script.keptFrom = 1994n;
    script.listed = listing({ slot: 1994n });
  });
  expect(forgetful).toMatchObject(PENDING);
});

test("the whole list of a wallet that got its first lamports a minute ago is enough", async () => {
  const young = (keptFrom: bigint | null, slot: bigint) =>
    late((script) => {
      script.keptFrom = keptFrom;
      script.listed = listing({ slot });
    });
  expect(await young(1695n, 1900n)).toMatchObject(EXPIRED);
  expect(await young(1696n, 1900n)).toMatchObject(PENDING);
  expect(await young(null, 1900n)).toMatchObject(PENDING);
  expect(await young(1695n, 1996n)).toMatchObject(PENDING);
});

test("a list that says the transaction failed is not believed while the escrow is there", async () => {
  const outcome = await late((script) => {
    paid(script);
    script.listed = listing({ signature, slot: 2001n, failed: true, error: ERROR }, EARLIER);
  });
  expect(outcome).toMatchObject(PENDING);
});

const rivals = { signature: rival, slot: 1999n };

test("another transaction that made the escrow is named, and the payment is not made twice", async () => {
  const outcome = await late((script) => {
    superseded(script);
    script.listed = listing(rivals, EARLIER);
  });
  expect(outcome).toMatchObject({ ...EXPIRED, supersededBy: rival });
});

test("where another transaction made the escrow, the fee payer's list tells whether this one had failed before", async () => {
  const payersList = (...entries: ReadonlyArray<Partial<typeof EARLIER>>) =>
    late((script) => {
      superseded(script);
      script.listed = listing(rivals);
      script.listedOf.set(feePayer, listing(...entries));
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
  expect(await late(() => undefined, 1214n)).toMatchObject({ ...PENDING, underWay: 1 });
});

test("without getFirstAvailableBlock the lists decide, and what they cannot tell leaves the queue", async () => {
  const mute = (script: RelayChain): void => {
    script.historyStart = null;
  };
  expect(await late(mute)).toMatchObject({ ...EXPIRED, underWay: 0 });
  const forgetful = (script: RelayChain): void => {
    mute(script);
    script.listed = [];
  };
  expect(await late(forgetful)).toMatchObject({ ...PENDING, underWay: 1 });
  const last = 1150n + RELAY_POLICY.queueBlocks;
  expect(await late(forgetful, last)).toMatchObject({ ...PENDING, underWay: 1 });
  expect(await late(forgetful, last + 1n)).toMatchObject({ ...PENDING, underWay: 0 });
});

test("an entry that nobody can tell about leaves the queue after an hour, also when no block height moves", () =>
  relaying(function* () {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    yield* TestClock.adjust(Duration.millis(RELAY_POLICY.queueMs - RELAY_POLICY.rebroadcastMs));
    expect(yield* delivery.underWay).toBe(1);
    yield* round;
    yield* round;
    expect(yield* delivery.underWay).toBe(0);
    expect(yield* readRelayOutcome(signature)).toMatchObject(PENDING);
  }));
