import { expect, test } from "bun:test";
import { Duration, Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { outcomeLogMemory } from "../../../../adapters/memory/outcome-log.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import type { RelayEntry } from "../../../../core/domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { RateLimiter } from "../../../../ports/rate-limiter.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { relaying, relayOver, scriptedPorts } from "./scripted-ledger.ts";
import { blockhashOf, signedBytes } from "./signed.ts";

const LIMIT = 20;
const signer = wallet("payer");
const payer = signer.address;
const registration = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
  payer: signer.address,
  merchant: signer.address,
  attestor: wallet("attestor").address,
  name: "Weather Data Ltd",
});
const entryOf = (n: number): RelayEntry => ({
  signature: ledgerSignatureFromBytes(new Uint8Array(64).fill(n)),
  transaction: signedBytes([registration], [signer], blockhashOf(n)),
  feePayer: payer,
  lastValidBlockHeight: 1150n,
  openedAtSlot: 2000n,
  openedAtMs: n,
  outcome: null,
});
const CLIENT = "2001:db8:1:2::/64";
const keyOfPayer = `fee_payer:${payer}`;

const remaining = (client: string) =>
  RateLimiter.use((limiter) => limiter.take("relay", client, 0)).pipe(
    Effect.map((decision) => decision.remaining),
  );
const round = TestClock.adjust(Duration.millis(RELAY_POLICY.rebroadcastMs));
const extra = RELAY_POLICY.expiredCost - 1;

test("an expired relay costs its client and its payer more, once; a landed one costs nothing more", () =>
  relaying(
    function* (script) {
      const delivery = yield* RelayDelivery;
      for (const n of [1, 2]) yield* delivery.accept(entryOf(n), CLIENT);
      script.landed.set(entryOf(2).signature, {
        slot: 2001n,
        commitment: "finalized",
        error: null,
      });
      yield* round;
      expect([yield* remaining(CLIENT), yield* remaining(keyOfPayer)]).toEqual([LIMIT, LIMIT]);
      script.blockHeight = 1215n;
      yield* round;
      yield* round;
      // Any address of the client's /64 counts as the client.
      for (const key of [CLIENT, "2001:db8:1:2::77", keyOfPayer])
        expect(yield* remaining(key)).toBe(LIMIT - extra);
      expect(yield* remaining("2001:db8:1:3::77")).toBe(LIMIT);
    },
    { limit: LIMIT },
  ));

test("the cost of many expired relays is charged to the next windows, for a bounded time", () =>
  relaying(
    function* (script) {
      const delivery = yield* RelayDelivery;
      const limiter = yield* RateLimiter;
      for (let n = 1; n <= 15; n++) yield* delivery.accept(entryOf(n), CLIENT);
      script.blockHeight = 1215n;
      yield* round;
      // 15 times 4 are three windows of 20, the present one included.
      const take = limiter.take("relay", CLIENT, 1);
      const { allowed, resetSeconds } = yield* take;
      expect(allowed).toBe(false);
      expect(resetSeconds).toBeWithin(121, 181);
      yield* TestClock.adjust(Duration.seconds(resetSeconds - 1));
      expect((yield* take).allowed).toBe(false);
      yield* TestClock.adjust(Duration.seconds(1));
      expect((yield* take).allowed).toBe(true);
    },
    { limit: LIMIT },
  ));

test("after a restart an expired relay is charged to its payer only, because its client is not known", () => {
  const { script, ports } = scriptedPorts(undefined, LIMIT);
  return Effect.gen(function* () {
    const log = Layer.succeedContext(yield* Layer.build(outcomeLogMemory));
    const before = RelayDelivery.use((delivery) => delivery.accept(entryOf(1), CLIENT));
    yield* Effect.provide(before, relayOver(ports, log));
    script.blockHeight = 1215n;
    yield* Effect.gen(function* () {
      yield* round;
      expect(yield* remaining(keyOfPayer)).toBe(LIMIT - extra);
      expect(yield* remaining(CLIENT)).toBe(LIMIT);
    }).pipe(Effect.provide(relayOver(ports, log)));
  }).pipe(Effect.scoped, Effect.runPromise);
});

test("a relay is charged to nobody when the nodes' history is gone", () =>
  relaying(
    function* (script) {
      const delivery = yield* RelayDelivery;
      yield* delivery.accept(entryOf(1), CLIENT);
      // One slot above the first that can hold it.
      script.historyStart = 1701n;
      script.blockHeight = 1215n;
      yield* round;
      expect(yield* delivery.underWay).toBe(0);
      expect([yield* remaining(CLIENT), yield* remaining(keyOfPayer)]).toEqual([LIMIT, LIMIT]);
    },
    { limit: LIMIT },
  ));
