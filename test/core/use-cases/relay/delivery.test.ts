import { describe, expect, test } from "bun:test";
import { Duration, Effect, Exit, Fiber, Layer } from "effect";
import { TestClock } from "effect/testing";
import { outcomeLogMemory } from "../../../../adapters/memory/outcome-log.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../core/domain/ledger/signature.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { readRelayOutcome } from "../../../../core/use-cases/relay/read-relay-outcome.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { RateLimiter } from "../../../../ports/rate-limiter.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { relaying, relayOver, scriptedPorts } from "./scripted-ledger.ts";
import { blockhashOf, signedBase64, signedBytes } from "./signed.ts";
import { inBlock } from "../../../world/scripted-chain.ts";

const payer = wallet("payer");
const registration = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
  payer: payer.address,
  merchant: payer.address,
  attestor: wallet("attestor").address,
  name: "Weather Data Ltd",
});
const requestOf = (n: number, more: { confirm?: boolean; client?: string } = {}) => ({
  signedTransaction: signedBase64([registration], [payer], blockhashOf(n)),
  confirm: false,
  skipPreflight: false,
  ...more,
});
const sentAs = (n: number) => {
  const decoded = decodeWireTransaction(signedBytes([registration], [payer], blockhashOf(n)));
  if ("malformed" in decoded) throw new Error(decoded.malformed);
  return decoded.value;
};
const signatureOf = (n: number) => sentAs(n).signature;
const entryOf = (signature: LedgerSignature) => OutcomeLog.use((log) => log.find(signature));
const later = (ms: number) => TestClock.adjust(Duration.millis(ms));
const failureOf = <A, E>(exit: Exit.Exit<A, E>): E | undefined => {
  const failure = Exit.findErrorOption(exit);
  return failure._tag === "Some" ? failure.value : undefined;
};

describe("delivery", () => {
  test("the same bytes are sent every two seconds until they have landed, and never after", () =>
    relaying(function* (script) {
      const name = signatureOf(1);

      yield* relayTransaction(requestOf(1));
      expect(script.sent).toEqual([name]);
      yield* later(3 * RELAY_POLICY.rebroadcastMs);
      expect(script.sent).toEqual([name, name, name, name]);
      script.landed.set(name, { slot: 2001n, commitment: "confirmed", error: null });
      yield* later(10 * RELAY_POLICY.rebroadcastMs);
      expect(script.sent).toHaveLength(4);
      expect((yield* readRelayOutcome(name)).commitment).toBe("confirmed");
      // A fork dropped it.
      script.landed.clear();
      yield* later(RELAY_POLICY.rebroadcastMs);
      expect(script.sent).toHaveLength(5);
      script.landed.set(name, { slot: 2005n, commitment: "finalized", error: null });
      yield* later(RELAY_POLICY.rebroadcastMs);
      const delivery = yield* RelayDelivery;
      expect(yield* delivery.underWay).toBe(0);
      script.landed.clear();
      expect(yield* readRelayOutcome(name)).toMatchObject({ status: "landed", slot: 2005n });
    }));

  test("a hundred concurrent requests make one simulation, one sending and one loop", () =>
    relaying(function* (script) {
      const answers = yield* Effect.all(
        Array.from({ length: 100 }, () => relayTransaction(requestOf(1))),
        { concurrency: "unbounded" },
      );
      expect(new Set(answers.map((each) => Bun.inspect(each))).size).toBe(1);
      expect(script.simulations).toBe(1);
      expect(script.sent).toHaveLength(1);
      yield* later(RELAY_POLICY.rebroadcastMs);
      expect(script.sent).toHaveLength(2);
    }));

  test("expired needs a height well beyond the last valid one, and a history that goes far enough back", () =>
    relaying(function* (script) {
      const name = signatureOf(1);

      yield* relayTransaction(requestOf(1));
      script.blockHeight = 1150n;
      yield* later(RELAY_POLICY.rebroadcastMs);
      expect(yield* readRelayOutcome(name)).toMatchObject({
        status: "pending",
        lastValidBlockHeight: 1150n,
        safeToSignAgain: false,
      });
      script.blockHeight = 1215n;
      yield* later(RELAY_POLICY.rebroadcastMs);
      expect(yield* readRelayOutcome(name)).toMatchObject({
        status: "expired",
        safeToSignAgain: true,
      });
      const again = yield* Effect.exit(relayTransaction(requestOf(1)));
      expect(failureOf(again)).toMatchObject({ _tag: "BlockhashExpired" });

      yield* relayTransaction(requestOf(2));
      // One slot above the first that can hold it: it was taken on at slot 2215.
      script.historyStart = 1916n;
      script.blockHeight = 5000n;
      yield* later(RELAY_POLICY.rebroadcastMs);
      expect(yield* readRelayOutcome(signatureOf(2))).toMatchObject({
        status: "pending",
        safeToSignAgain: false,
      });
    }));

  test("a confirmed height beyond the last valid one is not enough, because of forks", () =>
    relaying(function* (script) {
      yield* relayTransaction(requestOf(1));
      script.blockHeight = 1150n;
      script.heightAhead = 32n;
      yield* later(2 * RELAY_POLICY.rebroadcastMs);
      const outcome = yield* readRelayOutcome(signatureOf(1));
      expect(outcome).toMatchObject({ status: "pending", safeToSignAgain: false });
    }));

  test("nothing is sent before it is in the log", () => {
    const { script, ports } = scriptedPorts();
    return Effect.gen(function* () {
      const log = yield* Layer.build(outcomeLogMemory);
      const recorded: Array<boolean> = [];
      const lookUp = Effect.runSyncWith(log);
      script.onSend = ({ signature }) => {
        recorded.push(lookUp(entryOf(signature)) !== null);
      };
      yield* Effect.provide(
        relayTransaction(requestOf(1)),
        relayOver(ports, Layer.succeedContext(log)),
      );
      expect(recorded).toEqual([true]);
    }).pipe(Effect.scoped, Effect.runPromise);
  });

  test("a failure is safe to sign again only once it is finalized", () =>
    relaying(function* (script) {
      const name = signatureOf(1);
      const error = {
        kind: "InstructionError",
        instructionIndex: 0,
        instructionError: "Custom",
        customCode: 6112,
      };

      yield* relayTransaction(requestOf(1));
      script.landed.set(name, { slot: 2001n, commitment: "confirmed", error });
      expect(yield* readRelayOutcome(name)).toMatchObject({
        status: "landed",
        error,
        program: LOCAL_DEPLOYMENT.attestorProgram,
        logs: ["a log line"],
        safeToSignAgain: false,
      });
      script.landed.set(name, { slot: 2001n, commitment: "finalized", error });
      // A status alone proves nothing; the next round reads the history and the accounts.
      expect(yield* readRelayOutcome(name)).toMatchObject({ safeToSignAgain: false });
      script.record(inBlock(sentAs(1), 2001n, error));
      yield* later(RELAY_POLICY.rebroadcastMs);
      expect(yield* readRelayOutcome(name)).toMatchObject({
        commitment: "finalized",
        error,
        safeToSignAgain: true,
      });
    }));

  test("an unknown signature is not found; one relayed elsewhere is read from the ledger", () =>
    relaying(function* (script) {
      const foreign = ledgerSignatureFromBytes(new Uint8Array(64).fill(9));

      expect(failureOf(yield* Effect.exit(readRelayOutcome(foreign)))).toMatchObject({
        _tag: "TransactionNotFound",
      });
      script.landed.set(foreign, { slot: 7n, commitment: "finalized", error: null });
      expect(yield* readRelayOutcome(foreign)).toMatchObject({ status: "landed", slot: 7n });
    }));

  test("open transactions continue after a restart", () => {
    const { script, ports } = scriptedPorts();
    const name = signatureOf(1);
    return Effect.gen(function* () {
      const log = Layer.succeedContext(yield* Layer.build(outcomeLogMemory));
      yield* Effect.provide(relayTransaction(requestOf(1)), relayOver(ports, log));
      expect(script.sent).toEqual([name]);
      yield* Effect.gen(function* () {
        yield* later(RELAY_POLICY.rebroadcastMs);
        expect(script.sent.length).toBeGreaterThan(1);
        script.landed.set(name, { slot: 2001n, commitment: "finalized", error: null });
        yield* later(RELAY_POLICY.rebroadcastMs);
        const entry = yield* (yield* OutcomeLog).find(name);
        expect(entry?.outcome).toEqual({ status: "landed", slot: 2001n, error: null });
      }).pipe(Effect.provide(relayOver(ports, log)));
    }).pipe(Effect.scoped, Effect.runPromise);
  });

  test("confirm waits up to the limit, then returns submitted; in time, it returns the slot", () =>
    relaying(function* (script) {
      const waiting = yield* Effect.forkChild(relayTransaction(requestOf(1, { confirm: true })));
      yield* later(0);
      yield* later(2_900);
      expect(waiting.pollUnsafe()).toBeUndefined();
      yield* later(3_000);
      expect(yield* Fiber.join(waiting)).toMatchObject({ status: "submitted", slot: null });
      const second = yield* Effect.forkChild(relayTransaction(requestOf(2, { confirm: true })));
      yield* later(0);
      yield* later(500);
      script.landed.set(signatureOf(2), { slot: 2002n, commitment: "confirmed", error: null });
      yield* later(RELAY_POLICY.confirmPollMs);
      expect(yield* Fiber.join(second)).toMatchObject({ status: "confirmed", slot: 2002n });
    }));

  test("a fee payer has a share of the queue, which is released as outcomes are known", () =>
    relaying(function* (script) {
      const share = RELAY_POLICY.queueShareOfFeePayer;

      for (let n = 0; n < share; n++) yield* relayTransaction(requestOf(n));
      const full = yield* Effect.exit(relayTransaction(requestOf(share)));
      expect(failureOf(full)).toMatchObject({
        _tag: "RelayShareFull",
        holder: "fee_payer",
        share,
      });
      expect(script.sent).not.toContain(signatureOf(share));
      script.landed.set(signatureOf(0), { slot: 1n, commitment: "finalized", error: null });
      yield* later(RELAY_POLICY.rebroadcastMs);
      expect(yield* relayTransaction(requestOf(share))).toMatchObject({ status: "submitted" });
    }));
});

describe("budgets", () => {
  test("a fee payer has a budget of its own, and repeating a known transaction costs nothing of it", () =>
    relaying(
      function* () {
        yield* relayTransaction(requestOf(1));
        for (let i = 0; i < 5; i++) yield* relayTransaction(requestOf(1));
        yield* relayTransaction(requestOf(2));
        expect(failureOf(yield* Effect.exit(relayTransaction(requestOf(3))))).toMatchObject({
          _tag: "FeePayerRateLimited",
          resetSeconds: 60,
        });
      },
      { limit: 2 },
    ));

  test("replaying a payer's old transaction takes nothing from the payer's budget", () =>
    relaying(
      function* (script) {
        script.isBlockhashValid = (blockhash) => blockhash !== blockhashOf(1);

        for (let i = 0; i < 5; i++) {
          const exit = yield* Effect.exit(relayTransaction(requestOf(1, { client: "192.0.2.1" })));
          expect(failureOf(exit)).toMatchObject({ _tag: "BlockhashExpired" });
        }
        const limiter = yield* RateLimiter;
        const key = `fee_payer:${payer.address}`;
        expect(yield* limiter.take("relay", key, 1)).toMatchObject({ remaining: 1 });
        expect(yield* relayTransaction(requestOf(2))).toMatchObject({ status: "submitted" });
      },
      { limit: 2 },
    ));

  test("a failed simulation costs client and payer more", () =>
    relaying(
      function* (script) {
        script.simulationError = {
          kind: "InstructionError",
          instructionIndex: 0,
          instructionError: "Custom",
          customCode: 6112,
        };

        const limiter = yield* RateLimiter;
        const exit = yield* Effect.exit(relayTransaction(requestOf(1, { client: "192.0.2.1" })));
        expect(failureOf(exit)).toMatchObject({ _tag: "TransactionRejected", landed: null });
        const extra = RELAY_POLICY.failedPreflightCost - 1;
        expect(yield* limiter.take("relay", "192.0.2.1", 1)).toMatchObject({
          remaining: 10 - extra - 1,
        });
        const key = `fee_payer:${payer.address}`;
        expect(yield* limiter.take("relay", key, 1)).toMatchObject({ remaining: 10 - extra - 2 });
        expect(script.sent).toEqual([]);
      },
      { limit: 10 },
    ));

  test("repeating one failing transaction of a payer takes from the payer's budget once", () =>
    relaying(
      function* (script) {
        script.simulationError = {
          kind: "InstructionError",
          instructionIndex: 0,
          instructionError: "Custom",
          customCode: 6112,
        };

        const limiter = yield* RateLimiter;
        const { failedPreflightCost } = RELAY_POLICY;
        for (const client of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) {
          for (let i = 0; i < 2; i++)
            expect(
              failureOf(yield* Effect.exit(relayTransaction(requestOf(1, { client })))),
            ).toMatchObject({ _tag: "TransactionRejected" });
          expect(yield* limiter.take("relay", client, 0)).toMatchObject({
            remaining: 20 - 2 * (failedPreflightCost - 1),
          });
        }
        const key = `fee_payer:${payer.address}`;
        expect(yield* limiter.take("relay", key, 0)).toMatchObject({
          remaining: 20 - failedPreflightCost,
        });
        script.simulationError = null;
        expect(yield* relayTransaction(requestOf(2))).toMatchObject({ status: "submitted" });
      },
      { limit: 20 },
    ));

  test("a payer without lamports is refused as such, and nothing is sent", () =>
    relaying(function* (script) {
      script.put(walletAccount(payer.address, 4999n));

      expect(failureOf(yield* Effect.exit(relayTransaction(requestOf(1))))).toMatchObject({
        _tag: "FeePayerCannotPay",
        balanceLamports: 4999n,
        feeLamports: 5000n,
      });
      expect(script.sent).toEqual([]);
    }));
});
