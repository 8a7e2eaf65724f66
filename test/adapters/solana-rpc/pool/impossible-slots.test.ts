import { expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import { TestClock } from "effect/testing";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { decodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, runOver, valueOf } from "../ledger-under-test.ts";
import {
  atSlot,
  type Behaviour,
  peersOfTests,
  result,
  type ScriptedPeer,
} from "../scripted-peer.ts";
import { JOBS } from "../../../chaos/relay/prepared-jobs.ts";

const open = peersOfTests();
const GENESIS = addressFromBytes(new Uint8Array(32).fill(1));
const nodeOf = (read: Behaviour): ScriptedPeer => {
  return open((call, request) =>
    call.method === "getGenesisHash" ? result(GENESIS)(call, request) : read(call, request),
  );
};
const [attempt] = JOBS[0] ?? [];
if (attempt === undefined) throw new Error("no job");
const bytes = decodeBase64(attempt.base64) ?? new Uint8Array();
const decoded = decodeWireTransaction(bytes);
if ("malformed" in decoded) throw new Error("x");
const { signature } = decoded.value;
const commitmentOf = (params: ReadonlyArray<unknown>) =>
  (params.at(-1) as { commitment: string }).commitment;

test("one confirmed answer of a slightly high slot: dropped after two minutes also while syncs read at finalized", async () => {
  let isLying = true;
  let slot = 1000;
  const node = nodeOf((call, request) => {
    const finalized = commitmentOf(call.params) === "finalized";
    const at = finalized ? slot - 32 : isLying ? slot + 9000 : slot;
    return atSlot(at, [])(call, request);
  });
  const { exit } = await runOver(
    configOver([node], { attemptsPerNode: 1 }),
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      yield* ledger.readAccounts([], "confirmed");
      isLying = false;
      const outcomes: Array<string> = [];
      for (let round = 0; round < 30; round++) {
        yield* TestClock.adjust("20 seconds");
        slot += 50;
        // what the index's sync does every few seconds, and a reader
        yield* ledger.readAccounts([], "finalized");
        const read = yield* Effect.exit(ledger.readAccounts([], "confirmed"));
        outcomes.push(Exit.isSuccess(read) ? "ok" : "fail");
      }
      return outcomes;
    }),
  );
  // ten minutes: the documented two minutes leave at most seven failures
  expect(valueOf(exit).slice(10)).not.toContain("fail");
});

test("one status with a slot beyond all slots does not close the escrow's account for good", async () => {
  let isLying = true;
  let slot = 1000;
  const node = nodeOf((call, request) => {
    if (call.method === "sendTransaction") return result(signature)(call, request);
    if (call.method === "getSignatureStatuses")
      return atSlot(slot, [
        {
          slot: isLying ? Number.MAX_SAFE_INTEGER : 990,
          confirmations: null,
          err: null,
          confirmationStatus: "finalized",
        },
      ])(call, request);
    const [accounts] = call.params as [ReadonlyArray<string>];
    return atSlot(
      slot,
      accounts.map(() => null),
    )(call, request);
  });
  const { exit } = await runOver(
    configOver([node], { attemptsPerNode: 1 }),
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      const broadcaster = yield* Broadcaster;
      yield* broadcaster.submit(bytes);
      const told = yield* Effect.exit(broadcaster.landed(signature));
      isLying = false;
      const outcomes: Array<string> = [];
      for (let round = 0; round < 30; round++) {
        yield* TestClock.adjust("60 seconds");
        slot += 150;
        yield* ledger.readAccounts([], "confirmed"); // any other reader
        const read = yield* Effect.exit(ledger.readAccounts([attempt.escrow.address], "confirmed"));
        outcomes.push(Exit.isSuccess(read) ? "ok" : "fail");
      }
      return { told: Exit.isSuccess(told) ? told.value?.slot : "refused", outcomes };
    }),
  );
  const { told, outcomes } = valueOf(exit);
  expect(outcomes.slice(5)).not.toContain("fail");
  expect(told).toBe("refused");
});

test("one status answer with an impossible context slot does not hide the signature's outcome for good", async () => {
  let isLying = true;
  let slot = 1000;
  const node = nodeOf((call, request) => {
    if (call.method === "getSignatureStatuses")
      return atSlot(isLying ? Number.MAX_SAFE_INTEGER : slot, [
        { slot: 990, confirmations: 3, err: null, confirmationStatus: "confirmed" },
      ])(call, request);
    return atSlot(slot, [])(call, request);
  });
  const { exit } = await runOver(
    configOver([node], { attemptsPerNode: 1 }),
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      const broadcaster = yield* Broadcaster;
      yield* ledger.readAccounts([], "confirmed");
      yield* Effect.exit(broadcaster.landed(signature));
      isLying = false;
      const outcomes: Array<string> = [];
      for (let round = 0; round < 20; round++) {
        yield* TestClock.adjust("60 seconds");
        slot += 150;
        yield* ledger.readAccounts([], "confirmed");
        const read = yield* Effect.exit(broadcaster.landed(signature));
        outcomes.push(Exit.isSuccess(read) ? "ok" : "fail");
      }
      return outcomes;
    }),
  );
  expect(valueOf(exit).slice(5)).not.toContain("fail");
});
