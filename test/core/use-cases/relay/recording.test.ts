import { describe, expect, test } from "bun:test";
import { Duration, Effect, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import { outcomeLogMemory } from "../../../../adapters/memory/outcome-log.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { relayOver, scriptedPorts } from "./scripted-ledger.ts";
import { blockhashOf, signedBase64 } from "./signed.ts";

const payer = wallet("payer");
const registration = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
  payer: payer.address,
  merchant: payer.address,
  attestor: wallet("attestor").address,
  name: "Weather Data Ltd",
});
const requestOf = (n: number) => ({
  signedTransaction: signedBase64([registration], [payer], blockhashOf(n)),
  confirm: false,
  skipPreflight: false,
});
const later = (ms: number) => TestClock.adjust(Duration.millis(ms));
const fault = { problem: "no space is left on its disk", cure: "Make room on the disk." };
const full = new StoreUnavailable({ retryable: true, cause: "full", fault });
const refused = (request: Parameters<typeof relayTransaction>[0]) =>
  Effect.map(Effect.flip(relayTransaction(request)), (failure) =>
    expect(failure).toMatchObject({ _tag: "StoreUnavailable" }),
  );

describe("recording", () => {
  test("what cannot be recorded is not sent, which log and operator hear once, and when it is over, also while nobody relays", async () => {
    const { script, ports } = scriptedPorts();
    const lines: Array<string> = [];
    const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line));
    const told = (words: string) => lines.filter((line) => line.includes(words));
    let takes: "nothing" | "keys" | "all" = "nothing";
    await Effect.gen(function* () {
      const log = yield* Effect.provide(OutcomeLog, outcomeLogMemory);
      const ifTaken = <A>(write: Effect.Effect<A, StoreUnavailable>, isKey = false) =>
        Effect.suspend(() =>
          takes === "all" || (isKey && takes === "keys") ? write : Effect.fail(full),
        );
      const store = Layer.succeed(OutcomeLog, {
        ...log,
        open: (entry) => ifTaken(log.open(entry)),
        tryOpen: (entry) => ifTaken(log.tryOpen(entry)),
        // Of a key that is known already nothing is written.
        claimKey: (use) =>
          use.key === "answered" ? log.claimKey(use) : ifTaken(log.claimKey(use), true),
      });
      yield* Effect.gen(function* () {
        const { unrecorded } = yield* RelayDelivery;
        expect(yield* unrecorded).toBeNull();
        // Its key is the first that is written for it.
        yield* refused({ ...requestOf(1), idempotencyKey: "one" });
        expect(yield* unrecorded).toBe(full);
        yield* refused(requestOf(2));
        yield* later(2 * RELAY_POLICY.rebroadcastMs);
        expect(yield* unrecorded).toBe(full);
        expect(script.sent).toEqual([]);
        expect(told("nothing is relayed")).toHaveLength(1);
        expect(lines.join()).toContain(fault.cure);
        // Room for a key is none for an entry.
        takes = "keys";
        yield* later(RELAY_POLICY.rebroadcastMs);
        yield* refused({ ...requestOf(1), idempotencyKey: "two" });
        expect(yield* unrecorded).toBe(full);
        expect(told("relayed again")).toHaveLength(0);
        takes = "all";
        yield* later(RELAY_POLICY.rebroadcastMs);
        expect(yield* unrecorded).toBeNull();
        expect(told("relayed again")).toHaveLength(1);
        // A trial leaves neither entry nor key behind.
        expect(yield* log.unresolved(1)).toEqual([]);
        takes = "nothing";
        yield* refused(requestOf(1));
        takes = "all";
        const answered = { ...requestOf(1), idempotencyKey: "answered" };
        for (const request of [answered, requestOf(2)]) yield* relayTransaction(request);
        expect(yield* unrecorded).toBeNull();
        expect(script.sent).toHaveLength(2);
        expect(told("relayed again")).toHaveLength(2);
        // An answer that is read again shows nothing of what can be written.
        takes = "nothing";
        yield* refused({ ...requestOf(3), idempotencyKey: "three" });
        yield* relayTransaction(answered);
        expect(yield* unrecorded).toBe(full);
        expect(told("relayed again")).toHaveLength(2);
      }).pipe(Effect.provide(relayOver(ports, store)));
    }).pipe(Effect.provide(Logger.layer([logger])), Effect.scoped, Effect.runPromise);
  });

  test("a trial that takes its time, or that breaks, keeps nothing from being sent again", async () => {
    for (const trial of [Effect.never, Effect.die("no such table")]) {
      const { script, ports } = scriptedPorts();
      let isFull = false;
      let isMended = false;
      const suspended = <A>(write: Effect.Effect<A, StoreUnavailable>) =>
        Effect.suspend(() => (isFull ? Effect.fail(full) : write));
      await Effect.gen(function* () {
        const log = yield* Effect.provide(OutcomeLog, outcomeLogMemory);
        const store = Layer.succeed(OutcomeLog, {
          ...log,
          open: (entry) => suspended(log.open(entry)),
          tryOpen: (entry) => Effect.suspend(() => (isMended ? log.tryOpen(entry) : trial)),
        });
        yield* Effect.gen(function* () {
          yield* relayTransaction(requestOf(1));
          isFull = true;
          yield* refused(requestOf(2));
          const before = script.sent.length;
          yield* later(3 * RELAY_POLICY.rebroadcastMs);
          expect(script.sent.length).toBe(before + 3);
          const { unrecorded } = yield* RelayDelivery;
          expect(yield* unrecorded).toBe(full);
          isMended = true;
          yield* later(RELAY_POLICY.rebroadcastMs);
          expect(yield* unrecorded).toEqual(trial === Effect.never ? full : null);
        }).pipe(Effect.provide(relayOver(ports, store)));
      }).pipe(Effect.scoped, Effect.runPromise);
    }
  });
});
