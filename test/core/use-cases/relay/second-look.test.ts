import { expect, test } from "bun:test";
import { Duration, Effect, Exit, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import * as s from "../../../programs/fixture/settlement.ts";
import { at, EXPIRY, givenAway } from "../../../programs/fixture/settlement-attempts.ts";
import { putTokenAccount } from "../../../programs/fixture/token-account.ts";
import { approve, revoke } from "../../../programs/fixture/token-instructions.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { relayOver, scriptedPorts } from "./scripted-ledger.ts";
import { signedBase64 } from "./signed.ts";

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
