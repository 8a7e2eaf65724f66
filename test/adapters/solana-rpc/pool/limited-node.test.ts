import { expect, test } from "bun:test";
import { Effect, Fiber } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { SYSTEM_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger, LedgerLane } from "../../../../ports/ledger/ledger.ts";
import { escrowAt } from "./simulated/lagging-pool.ts";
import { limitedNode, MOST_OF_A_METHOD } from "./simulated/limited-node.ts";
import { runSimulated, type TimedCall } from "./simulated/virtual-run.ts";

const signatureOf = (n: number) => {
  const bytes = new Uint8Array(64).fill(4);
  new DataView(bytes.buffer).setUint32(0, n);
  return ledgerSignatureFromBytes(bytes);
};

const transaction = {
  slot: 5,
  transaction: {
    message: {
      header: { numRequiredSignatures: 1 },
      accountKeys: [SYSTEM_PROGRAM],
      instructions: [],
    },
  },
  meta: { err: null, innerInstructions: [] },
};
const present = {
  lamports: 1,
  owner: SYSTEM_PROGRAM,
  executable: false,
  data: ["", "base64"],
  rentEpoch: 0,
  space: 0,
};

const answerOf = ({ method, params, nowMs }: TimedCall): unknown => {
  const slot = 1000 + Math.floor(nowMs / 400);
  if (method === "getTransaction")
    return { ...transaction, transaction: { ...transaction.transaction, signatures: [params[0]] } };
  if (method === "getEpochInfo") return { absoluteSlot: slot, blockHeight: slot };
  const asked = params[0] as ReadonlyArray<string>;
  return { context: { slot }, value: asked.map(() => present) };
};

/** What the sync of a burst asks for: each transaction, eight at a time, and the accounts they touched. */
const burst = Effect.fnUntraced(function* (escrows: number) {
  const ledger = yield* Ledger;
  yield* ledger.tip("finalized");
  yield* Effect.forEach(
    Array.from({ length: escrows }, (_, n) => n),
    (n) => ledger.transaction(signatureOf(n)),
    { concurrency: 8 },
  );
  for (let at = 0; at < escrows; at += 100)
    yield* ledger.readAccounts(
      Array.from({ length: 100 }, (_, i) => escrowAt(at + i)),
      "finalized",
    );
});

const seconds = Effect.clockWith((clock) =>
  Effect.sync(() => Number(clock.monotonicTimeNanosUnsafe()) / 1e9),
);

test("a burst of 200 escrows is read within 90 s at a public node's limits, and none of 100 live reads fails", async () => {
  const node = limitedNode((call) => ({ result: answerOf(call) }));
  const { tookSeconds, failed } = await runSimulated(
    node.answer,
    Effect.gen(function* () {
      const indexed = yield* burst(200).pipe(
        Effect.provideService(LedgerLane, "background"),
        Effect.andThen(seconds),
        Effect.forkChild({ startImmediately: true }),
      );
      let failures = 0;
      for (let read = 0; read < 100; read++) {
        const exit = yield* Effect.exit(
          Ledger.use((ledger) => ledger.readAccounts([escrowAt(read)], "confirmed")),
        );
        if (exit._tag === "Failure") failures += 1;
        yield* Effect.sleep("700 millis");
      }
      return { tookSeconds: yield* Fiber.join(indexed), failed: failures };
    }),
  );
  expect(failed).toBe(0);
  expect(tookSeconds).toBeLessThanOrEqual(90);
  // The node's limit shows in its refusals of the sync's method alone.
  expect(Object.keys(node.refused)).toEqual(["getTransaction"]);
}, 60_000);

test("a limit on one method leaves the node's other methods open", async () => {
  const node = limitedNode((call) => ({ result: answerOf(call) }));
  await runSimulated(
    node.answer,
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      for (let n = 0; n < MOST_OF_A_METHOD; n++) yield* ledger.transaction(signatureOf(n));
      const refused = yield* Effect.flip(ledger.transaction(signatureOf(MOST_OF_A_METHOD)));
      expect(refused).toMatchObject({
        _tag: "LedgerUnavailable",
        retryable: true,
        fault: {
          node: "http://simulated.invalid",
          method: "getTransaction",
          kind: "rate_limited",
          httpStatus: 429,
          rpcCode: null,
          retryAfterMs: 10_000,
        },
      });
      yield* ledger.readAccounts([escrowAt(1)], "confirmed");
    }),
  );
  expect(node.refused).toEqual({ getTransaction: 1 });
});
