import { expect, test } from "bun:test";
import { Duration, Effect, Exit, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { readRelayOutcome } from "../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { entry, EXPIRED, PENDING, round, signature, told } from "./relayed-creation.ts";
import { relaying, relayOver, scriptedPorts } from "./scripted-ledger.ts";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import * as s from "../../../programs/fixture/settlement.ts";
import { at, EXPIRY, givenAway } from "../../../programs/fixture/settlement-attempts.ts";
import { putTokenAccount } from "../../../programs/fixture/token-account.ts";
import { approve, revoke } from "../../../programs/fixture/token-instructions.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { signedBase64 } from "./signed.ts";

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

const purse = wallet("purse").address;

const refund = s.refundInstruction({ agentFallbackAccount: purse });

/** Relays a refund whose fallback account has a delegate, and runs `meanwhile` before the second check. */
const relayed = (meanwhile: (ledger: ReturnType<typeof at>) => void) => {
  const ledger = givenAway(s.agent, s.agentTokens, at(EXPIRY));
  putTokenAccount(ledger, s.agent.address, s.mint, 0n, purse);
  ledger.do([approve(purse, s.attestor.address, s.agent.address, 1n)], [s.agent]);
  const { script, ports } = scriptedPorts(ledger);
  return Effect.gen(function* () {
    const relaying = yield* Effect.forkChild(
      Effect.exit(
        relayTransaction({
          signedTransaction: signedBase64([refund], [s.stranger]),
          confirm: false,
          skipPreflight: false,
        }),
      ),
    );
    yield* TestClock.adjust(Duration.millis(RELAY_POLICY.secondLookMs - 1));
    expect(script.sent).toEqual([]);
    meanwhile(ledger);
    yield* TestClock.adjust(Duration.millis(1));
    return { exit: yield* Fiber.join(relaying), sent: script.sent.length };
  }).pipe(Effect.provide(relayOver(ports)), Effect.runPromise);
};

test("a payout account with a delegate is refused after a second check", async () => {
  const { exit, sent } = await relayed(() => undefined);
  expect(Exit.findErrorOption(exit)).toMatchObject({
    _tag: "Some",
    value: { _tag: "SettlementCheckFailed", rule: "payout_account_shared", instructionIndex: 0 },
  });
  expect(sent).toBe(0);
});

test("it is accepted when its owner's revocation has landed by then", async () => {
  const { exit, sent } = await relayed((ledger) =>
    ledger.do([revoke(purse, s.agent.address)], [s.agent]),
  );
  expect(Exit.isSuccess(exit)).toBe(true);
  expect(sent).toBe(1);
});
