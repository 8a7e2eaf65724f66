import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { computeBudgetFault } from "../../../../core/protocol/instructions/compute-budget.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { TestLedger } from "../../../programs/fixture/test-ledger.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";

const budget = (...data: ReadonlyArray<number>): Instruction => ({
  programAddress: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: Uint8Array.from(data),
});
const memo: Instruction = {
  programAddress: MEMO_PROGRAM,
  accounts: [],
  data: new TextEncoder().encode("m"),
};
const faultOf = (instructions: ReadonlyArray<Instruction>) =>
  computeBudgetFault(
    instructions.map(({ programAddress, data }) => ({
      program: programAddress,
      accounts: [],
      data,
    })),
  );
const u32 = (value: number) => [value & 255, (value >> 8) & 255, (value >> 16) & 255, value >>> 24];

describe("a Compute Budget instruction that no ledger accepts", () => {
  test.each<readonly [string, ReadonlyArray<Instruction>, number]>([
    ["is not an instruction of the Compute Budget program", [budget()], 0],
    [
      "is not an instruction of the Compute Budget program",
      [memo, budget(0, 1, 0, 0, 0, 1, 0, 0, 0)],
      1,
    ],
    ["is not an instruction of the Compute Budget program", [budget(5, 1, 0, 0, 0)], 0],
    ["has 4 of at least 5 bytes", [budget(2, 1, 0, 0)], 0],
    ["has 5 of at least 9 bytes", [budget(3, 1, 0, 0, 0)], 0],
    [
      "sets the compute unit limit a second time",
      [budget(2, 1, 0, 0, 0), memo, budget(2, 1, 0, 0, 0)],
      2,
    ],
    [
      "asks for a heap of 262145 bytes, which is not 32 to 256 KiB in whole KiB",
      [budget(1, ...u32(262_145))],
      0,
    ],
    ["limits loaded account data to 0 bytes", [budget(4, 0, 0, 0, 0)], 0],
  ])("%s", (detail, instructions, instructionIndex) => {
    expect(faultOf(instructions)).toEqual({ instructionIndex, detail });
  });

  test("is not one that a ledger accepts", () => {
    const each = [
      budget(1, ...u32(32_768)),
      budget(2, ...u32(0xffffffff), 9, 9),
      budget(3, 1, 0, 0, 0, 0, 0, 0, 0),
      budget(4, 1, 0, 0, 0),
    ];
    expect(faultOf([...each, memo, { ...memo, data: budget().data }])).toBeNull();
  });
});

test("exactly what the runtime drops before it runs is a fault", () => {
  const ledger = new TestLedger();
  const payer = wallet("payer of compute budgets");
  ledger.fund(payer.address, 10n ** 12n);
  // Heap sizes around their bounds. Loaded data and units are large enough that nothing else fails.
  const bytes = fc.oneof(
    fc.constantFrom(0, 1024, 31_744, 32_768, 33_792, 262_144, 263_168, 2 ** 26),
    fc.integer({ min: 0, max: 300 }).map((kib) => kib * 1024),
    fc.nat({ max: 300_000 }),
  );
  const instruction = fc.oneof(
    bytes.map((heap) => budget(1, ...u32(heap))),
    fc.integer({ min: 100_000, max: 2 ** 31 }).map((units) => budget(2, ...u32(units))),
    fc.nat({ max: 1000 }).map((price) => budget(3, ...u32(price), 0, 0, 0, 0)),
    fc.constantFrom(0, 2 ** 26, 2 ** 30).map((limit) => budget(4, ...u32(limit))),
    fc.uint8Array({ maxLength: 4 }).map((data) => budget(...data)),
    fc.constant(memo),
  );
  fc.assert(
    fc.property(fc.array(instruction, { maxLength: 4 }), (instructions) => {
      const { refusal, logs } = ledger.send([...instructions, memo], [payer]);
      const isDropped = refusal !== undefined && logs.length === 0;
      expect(faultOf(instructions) !== null).toBe(isDropped);
    }),
    runs(150),
  );
});
