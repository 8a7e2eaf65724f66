import { expect, test } from "bun:test";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { readRelayOutcome } from "../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { entry, EXPIRED, PENDING, round, signature, told } from "./relayed-creation.ts";
import { relaying } from "./scripted-ledger.ts";

test("one false finalized height neither expires a transaction nor ends its sending", () =>
  relaying(function* (script) {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    yield* round;
    for (const falseHeight of [215n, 151n + RELAY_POLICY.queueBlocks]) {
      script.falseHeight = falseHeight;
      const sent = script.sent.length;
      yield* round;
      expect(script.sent).toHaveLength(sent + 1);
      expect(yield* delivery.underWay).toBe(1);
      expect(yield* readRelayOutcome(signature)).toMatchObject(PENDING);
    }
  }));

test("a height counts while it grew by at most one block for each slot", async () => {
  const grown = (falseHeight: bigint) =>
    told((script) => {
      script.falseHeight = falseHeight;
    }, 1215n);
  // The finalized slot is 230 above that of the first sending. The height is at most 230 above the one of that time.
  expect(await grown(15n)).toMatchObject(EXPIRED);
  expect(await grown(16n)).toMatchObject(PENDING);
});

test("a status that says finalized at a slot above the finalized tip is not the outcome yet", () =>
  relaying(function* (script) {
    const delivery = yield* RelayDelivery;
    yield* delivery.accept(entry, null);
    script.landed.set(signature, { slot: 2600n, commitment: "finalized", error: null });
    yield* round;
    // The block is dropped with its fork.
    script.landed.clear();
    yield* round;
    expect(yield* delivery.underWay).toBe(1);
    expect(yield* readRelayOutcome(signature)).toMatchObject(PENDING);
  }));
