import { describe, expect, test } from "bun:test";
import { Duration, Effect, Exit, Layer } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { outcomeLogMemory } from "../../../../adapters/memory/outcome-log.ts";
import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import type { RelayEntry } from "../../../../core/domain/relay/relay-entry.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { makeRelayQueue } from "../../../../core/use-cases/relay/relay-queue.ts";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { relaying, relayOver, scriptedPorts } from "./scripted-ledger.ts";
import { signedBase64 } from "./signed.ts";

const { queueCapacity, queueShareOfFeePayer } = RELAY_POLICY;

const filled = (length: number, n: number): Uint8Array => {
  const bytes = new Uint8Array(length);
  new DataView(bytes.buffer).setUint32(0, n);
  return bytes;
};
const payerOf = (n: number): Address => addressFromBytes(filled(32, n));
const entryOf = (n: number, feePayer: Address): RelayEntry => ({
  signature: ledgerSignatureFromBytes(filled(64, n)),
  transaction: filled(64, n),
  feePayer,
  lastValidBlockHeight: 1150n,
  openedAtSlot: 2000n,
  openedAtMs: n,
  outcome: null,
});
const failureOf = <A, E>(exit: Exit.Exit<A, E>): E | undefined => {
  const failure = Exit.findErrorOption(exit);
  return failure._tag === "Some" ? failure.value : undefined;
};

/** An attack on every place of the queue: 50 transactions of each of 20 payers, from 9 addresses. */
const attack = Effect.gen(function* () {
  const delivery = yield* RelayDelivery;
  for (let n = 0; n < 1000; n++) {
    const entry = entryOf(n, payerOf(n % 20));
    yield* Effect.ignore(delivery.accept(entry, `198.51.100.${Math.floor(n / 20) % 9}`));
  }
});

const honest = wallet("honest agent");
/** The relay of a client that has nothing to do with the attack. */
const honestRelay = relayTransaction({
  signedTransaction: signedBase64(
    [
      registerMerchantInstruction(LOCAL_DEPLOYMENT, {
        payer: honest.address,
        merchant: honest.address,
        attestor: wallet("attestor").address,
        name: "Weather Data Ltd",
      }),
    ],
    [honest],
  ),
  confirm: false,
  skipPreflight: false,
  client: "203.0.113.7",
});

describe("a relay whose transactions do not land", () => {
  test("stays open to others during an attack by 20 payers from 9 addresses", () =>
    relaying(function* () {
      yield* attack;
      expect(yield* honestRelay).toMatchObject({ status: "submitted" });
    }));

  test("stays open after a restart in the middle of it, and during a second attack", () => {
    const { ports } = scriptedPorts();
    return Effect.gen(function* () {
      const log = Layer.succeedContext(yield* Layer.build(outcomeLogMemory));
      const before = yield* Effect.provide(
        Effect.gen(function* () {
          yield* attack;
          return yield* (yield* RelayDelivery).underWay;
        }),
        relayOver(ports, log),
      );
      yield* Effect.gen(function* () {
        const delivery = yield* RelayDelivery;
        yield* TestClock.adjust(Duration.millis(RELAY_POLICY.rebroadcastMs));
        // Every entry continues, whoever sent it.
        expect(yield* delivery.underWay).toBe(before);
        // Restored entries count for their fee payers, who do not get a new share.
        let taken = 0;
        for (let n = 5000; n < 5100; n++) {
          const exit = yield* Effect.exit(delivery.accept(entryOf(n, payerOf(0)), `192.0.2.${n}`));
          if (Exit.isSuccess(exit)) taken += 1;
          else expect(failureOf(exit)).toMatchObject({ holder: "fee_payer" });
        }
        expect(taken).toBeLessThan(queueShareOfFeePayer - before / 20 + 1);
        for (let n = 2000; n < 3000; n++)
          yield* Effect.ignore(delivery.accept(entryOf(n, payerOf(n)), `198.51.100.${n % 9}`));
        expect(yield* honestRelay).toMatchObject({ status: "submitted" });
      }).pipe(Effect.provide(relayOver(ports, log)));
    }).pipe(Effect.scoped, Effect.runPromise);
  });

  test("stays open when one replica is asked for transactions of other replicas", () =>
    relaying(function* () {
      const delivery = yield* RelayDelivery;
      for (let n = 0; n < 5000; n++) yield* delivery.follow(entryOf(n, payerOf(n % 100)));
      expect(yield* delivery.underWay).toBeLessThan(queueCapacity);
      expect(yield* honestRelay).toMatchObject({ status: "submitted" });
    }));
});

describe("the shares of the queue", () => {
  const admits = (queue: ReturnType<typeof makeRelayQueue>, entry: RelayEntry, client: string) =>
    failureOf(Effect.runSyncExit(queue.admit(entry, client)));

  /** The number of places that one sender can take. Each further request is refused with the reason. */
  const greedy = (
    queue: ReturnType<typeof makeRelayQueue>,
    sender: number,
    holder: "client" | "fee_payer",
  ): number => {
    for (let n = 0; ; n++) {
      const name = 10_000 * sender + n;
      const entry = entryOf(name, payerOf(holder === "client" ? name : sender));
      const refused = admits(queue, entry, holder === "client" ? `${sender}` : `${name}`);
      if (refused === undefined) continue;
      expect(refused).toMatchObject(
        queue.size() < queueCapacity
          ? { _tag: "RelayShareFull", holder }
          : { _tag: "RelayQueueFull", capacity: queueCapacity },
      );
      return n;
    }
  };

  test("one client has a bounded share, whatever payers it uses", () => {
    const queue = makeRelayQueue();
    expect(greedy(queue, 1, "client")).toBe(171);
    expect(queue.size()).toBe(171);
    expect(greedy(queue, 2, "client")).toBe(124);
  });

  test("one fee payer has a smaller share, whatever clients it comes from", () => {
    const queue = makeRelayQueue();
    expect(greedy(queue, 1, "fee_payer")).toBe(queueShareOfFeePayer);
    expect(queue.size()).toBe(queueShareOfFeePayer);
  });

  test.each(["client", "fee_payer"] as const)(
    "a hundred greedy ones in turn leave room for more: each %s",
    (holder) => {
      const queue = makeRelayQueue();
      for (let sender = 1; sender <= 100; sender++)
        expect(greedy(queue, sender, holder)).toBeGreaterThan(0);
      expect(admits(queue, entryOf(1, payerOf(5_000_000)), "an honest one")).toBeUndefined();
    },
  );

  test("a full queue refuses everybody with that reason", () => {
    const queue = makeRelayQueue();
    for (let sender = 1; sender <= 400; sender++) greedy(queue, sender, "client");
    expect(queue.size()).toBe(queueCapacity);
  });

  test("released places can be taken again, also by the same sender", () => {
    const sender = fc.record({ client: fc.nat({ max: 20 }), payer: fc.nat({ max: 40 }) });
    fc.assert(
      fc.property(fc.array(sender, { maxLength: 400 }), (senders) => {
        const queue = makeRelayQueue();
        const entries = senders.map(({ payer }, n) => entryOf(n, payerOf(payer)));
        const admitAll = () =>
          entries.map((entry, n) => admits(queue, entry, `${senders[n]?.client}`) === undefined);
        const first = admitAll();
        expect(queue.size()).toBe(first.filter(Boolean).length);
        const removed = entries.map((entry) => queue.remove(entry));
        expect(removed).toEqual(first.map((taken, n) => (taken ? `${senders[n]?.client}` : null)));
        expect(queue.size()).toBe(0);
        expect(admitAll()).toEqual(first);
      }),
      runs(20),
    );
  });
});
