import { describe, expect, test } from "bun:test";
import {
  parseErr,
  parseTransactionError,
} from "../../../../adapters/solana-rpc/history/transaction-json.ts";

const plain = (kind: string) => ({
  kind,
  instructionIndex: null,
  instructionError: null,
  customCode: null,
});
const atInstruction = (
  instructionIndex: number,
  instructionError: string,
  customCode?: number,
) => ({
  kind: "InstructionError",
  instructionIndex,
  instructionError,
  customCode: customCode ?? null,
});

describe("a transaction's error in JSON", () => {
  test.each([
    ["BlockhashNotFound", plain("BlockhashNotFound")],
    ["SomeErrorOfTheFuture", plain("SomeErrorOfTheFuture")],
    [{ DuplicateInstruction: 3 }, plain("DuplicateInstruction")],
    [{ InsufficientFundsForRent: { account_index: 1 } }, plain("InsufficientFundsForRent")],
    [{ InstructionError: [2, "InvalidAccountData"] }, atInstruction(2, "InvalidAccountData")],
    [{ InstructionError: [0, { Custom: 0 }] }, atInstruction(0, "Custom", 0)],
    [
      { InstructionError: [255, { Custom: 4294967295 }] },
      atInstruction(255, "Custom", 2 ** 32 - 1),
    ],
    [{ InstructionError: [1, { BorshIoError: "Unknown" }] }, atInstruction(1, "BorshIoError")],
  ])("%j", (json, error) => {
    expect(parseTransactionError(json)).toEqual(error);
  });

  test.each([
    [undefined],
    [1],
    [""],
    ["not a name"],
    ["<script>"],
    [[]],
    [{}],
    [{ A: 1, B: 2 }],
    [{ InstructionError: "Custom" }],
    [{ InstructionError: [0] }],
    [{ InstructionError: [-1, "GenericError"] }],
    [{ InstructionError: [256, "GenericError"] }],
    [{ InstructionError: [0, null] }],
    [{ InstructionError: [0, { Custom: -1 }] }],
    [{ InstructionError: [0, { Custom: 4294967296 }] }],
    [{ InstructionError: [0, { Custom: "6000" }] }],
  ])("%j is none", (json) => {
    expect(parseTransactionError(json)).toBeUndefined();
  });

  test("null means success", () => {
    expect(parseErr(null)).toBeNull();
    expect(parseErr(undefined)).toBeUndefined();
  });
});
