import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, runOver, valueOf } from "../ledger-under-test.ts";
import {
  atSlot,
  type Behaviour,
  page,
  peersOfTests,
  result,
  type ScriptedPeer,
} from "../scripted-peer.ts";

const open = peersOfTests();
const nodeOf = (genesis: string, read: Behaviour): ScriptedPeer => {
  return open((call, request) =>
    call.method === "getGenesisHash" ? result(genesis)(call, request) : read(call, request),
  );
};
const OURS = addressFromBytes(new Uint8Array(32).fill(1));
const ANOTHER = addressFromBytes(new Uint8Array(32).fill(2));
const read = Ledger.use((ledger) => ledger.readAccounts([], "finalized"));
const slotsOf = (peer: ScriptedPeer) =>
  peer.calls.filter(({ method }) => method === "getMultipleAccounts").length;

describe("a node that cannot be trusted", () => {
  test("because it serves another ledger is skipped, and must show its ledger before it is asked again", async () => {
    let genesis = ANOTHER;
    let isUp = true;
    const first = nodeOf(OURS, (call, request) =>
      isUp ? atSlot(50, [])(call, request) : page(503)(call, request),
    );
    const other = open((call, request) =>
      call.method === "getGenesisHash"
        ? result(genesis)(call, request)
        : atSlot(60, [])(call, request),
    );
    const { exit, logged } = await runOver(
      configOver([first, other], { attemptsPerNode: 1 }),
      Effect.gen(function* () {
        const answer = yield* read;
        isUp = false;
        const alone = yield* Effect.flip(read);
        genesis = OURS;
        yield* TestClock.adjust("10 minutes");
        return { answer, alone, later: yield* read };
      }),
    );
    expect(valueOf(exit)).toMatchObject({
      answer: { slot: 50n },
      alone: { _tag: "LedgerUnavailable" },
      later: { slot: 60n },
    });
    expect(slotsOf(other)).toBe(1);
    expect(logged).toContain("wrong_ledger");
  });

  test("is not asked for its ledger when it is the only one", async () => {
    const alone = nodeOf(OURS, atSlot(50, []));
    valueOf((await runOver(configOver([alone]), read)).exit);
    expect(alone.calls.map(({ method }) => method)).toEqual(["getMultipleAccounts"]);
  });

  test("because it claims an impossible slot is skipped, and does not exclude the others", async () => {
    let slot = 1000;
    const liar = nodeOf(OURS, (call, request) => atSlot(slot, [])(call, request));
    const honest = nodeOf(OURS, atSlot(1003, []));
    const { exit } = await runOver(
      configOver([liar, honest], { attemptsPerNode: 1 }),
      Effect.gen(function* () {
        const before = yield* read;
        slot = 10 ** 12;
        return [before, yield* read, yield* read].map((answer) => answer.slot);
      }),
    );
    expect(valueOf(exit)).toEqual([1000n, 1003n, 1003n]);
  });

  test("because it claims a slightly high slot excludes the others for two minutes only", async () => {
    let isLying = true;
    const node = nodeOf(OURS, (call, request) => atSlot(isLying ? 9000 : 1000, [])(call, request));
    const { exit } = await runOver(
      configOver([node], { attemptsPerNode: 1 }),
      Effect.gen(function* () {
        yield* read;
        isLying = false;
        const failures = [yield* Effect.flip(read)];
        yield* TestClock.adjust("1 minute");
        failures.push(yield* Effect.flip(read));
        yield* TestClock.adjust("90 seconds");
        failures.push(yield* Effect.flip(read));
        return { failures, after: yield* read };
      }),
    );
    expect(valueOf(exit)).toMatchObject({
      failures: [
        { cause: { kind: "behind" } },
        { cause: { kind: "behind" } },
        { cause: { kind: "behind" } },
      ],
      after: { slot: 1000n },
    });
  });

  test("an honest node is believed after the machine slept", async () => {
    let slot = 1000;
    const node = nodeOf(OURS, (call, request) => atSlot(slot, [])(call, request));
    const { exit } = await runOver(
      configOver([node]),
      Effect.gen(function* () {
        yield* read;
        yield* TestClock.adjust("12 hours");
        slot += 12 * 3600 * 2.5;
        return yield* read;
      }),
    );
    expect(valueOf(exit).slot).toBe(109_000n);
  });
});
