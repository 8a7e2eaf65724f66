import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  computeUnitLimit,
  transferLamports,
} from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import type { Address } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, startLedger } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { url, stop, ledger } = startLedger({ time });
afterAll(stop);

const rich = localKey("a rich payer");
const atMinimum = localKey("a payer at the rent minimum");
const MINIMUM = Number(ledger.minimumBalance(0));

beforeAll(async () => {
  await call(url, "requestAirdrop", rich.address, 10_000_000_000, { commitment: "processed" });
  await call(url, "requestAirdrop", atMinimum.address, MINIMUM, { commitment: "processed" });
});

const budget = (...data: ReadonlyArray<number>): Instruction => ({
  programAddress: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: Uint8Array.from(data),
});
const calling = (programAddress: Address): Instruction => ({
  programAddress,
  accounts: [],
  data: new Uint8Array(),
});
const memo: Instruction = {
  programAddress: MEMO_PROGRAM,
  accounts: [],
  data: new TextEncoder().encode("m"),
};
const wire = (instructions: ReadonlyArray<Instruction>, payer = rich): string => {
  const { blockhash } = ledger.latestBlockhash();
  return encodeBase64(signedTransaction({ payer, instructions, blockhash }));
};
const simulated = async (transaction: string) => {
  const config = { encoding: "base64", sigVerify: true };
  const { result } = await call(url, "simulateTransaction", transaction, config);
  return (result as { value: { err: unknown; logs: ReadonlyArray<string> } }).value;
};
const nowhere = localKey("no account").address;

describe("Agave's errors from before a transaction runs have the same names, without logs", () => {
  const invalidData = { InstructionError: [0, "InvalidInstructionData"] };
  test.each<readonly [string, unknown, ReadonlyArray<Instruction>]>([
    ["an empty Compute Budget instruction", invalidData, [budget()]],
    ["the one that is gone", invalidData, [budget(0, 1, 0, 0, 0, 1, 0, 0, 0)]],
    ["one that does not exist", invalidData, [budget(5, 1, 0, 0, 0)]],
    ["one that is too short", invalidData, [budget(2, 1, 0)]],
    ["a heap of one byte", invalidData, [budget(1, 1, 0, 0, 0)]],
    ["a heap of 512 KiB", invalidData, [budget(1, 0, 0, 8, 0)]],
    [
      "a second unit limit",
      { DuplicateInstruction: 1 },
      [computeUnitLimit(200_000), computeUnitLimit(200_000)],
    ],
    ["a limit of no loaded data", "InvalidLoadedAccountsDataSizeLimit", [budget(4, 0, 0, 0, 0)]],
    ["a limit of one byte", "MaxLoadedAccountsDataSizeExceeded", [budget(4, 1, 0, 0, 0)]],
    ["a program that does not exist", "ProgramAccountNotFound", [calling(nowhere)]],
    ["a program that is none", "InvalidProgramForExecution", [calling(atMinimum.address)]],
    [
      "first a program that is none, then one that does not exist",
      "InvalidProgramForExecution",
      [calling(atMinimum.address), calling(nowhere)],
    ],
  ])("%s", async (_, err, instructions) => {
    const transaction = wire([...instructions, memo]);
    expect(await simulated(transaction)).toMatchObject({ err, logs: [] });
    const { error } = await call(url, "sendTransaction", transaction, { encoding: "base64" });
    expect(error).toMatchObject({ code: -32002, data: { err, logs: [] } });
    const config = { encoding: "base64", skipPreflight: true };
    const { result: signature } = await call(url, "sendTransaction", transaction, config);
    time.advance(400);
    const { result } = await call(url, "getSignatureStatuses", [signature]);
    expect(result).toMatchObject({ value: [null] });
  });

  test("a payer that the fee would leave below the rent minimum", async () => {
    expect(await simulated(wire([memo], atMinimum))).toMatchObject({
      err: { InsufficientFundsForRent: { account_index: 0 } },
      logs: [],
    });
  });

  test("a payer without any lamports", async () => {
    const transaction = wire([memo], localKey("a poor payer"));
    expect(await simulated(transaction)).toMatchObject({ err: "AccountNotFound", logs: [] });
  });
});

describe("errors from after the instructions ran have their logs", () => {
  test.each<readonly [string, unknown, ReadonlyArray<Instruction>]>([
    [
      "a unit limit of 0",
      { InstructionError: [0, "ComputationalBudgetExceeded"] },
      [budget(2, 0, 0, 0, 0)],
    ],
    [
      "an account left below the rent minimum",
      { InsufficientFundsForRent: { account_index: 1 } },
      [transferLamports(rich.address, localKey("dust").address, 5n)],
    ],
  ])("%s", async (_, err, instructions) => {
    const value = await simulated(wire([...instructions, memo]));
    expect(value.err).toEqual(err);
    expect(value.logs.length).toBeGreaterThan(0);
  });
});
