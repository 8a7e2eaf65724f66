import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Base64EncodedWireTransaction } from "@solana/kit";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_USDC_MINT, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { manualTime } from "../../../adapters/local-ledger/runtime/time/slots.ts";
import type { Address } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { type Instruction, readonly } from "../../../core/domain/ledger/instruction.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import {
  associatedTokenAddress,
  programDataAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { call, startLedger } from "./ledger-fixture.ts";

const time = manualTime(Date.now());
const { rpc, url, stop, ledger } = startLedger({ time });
afterAll(stop);

const payer = localKey("a payer of simulations");
const FUNDS = 10_000_000_000;
beforeAll(async () => {
  await call(url, "requestAirdrop", payer.address, FUNDS, { commitment: "processed" });
});

const nobody = localKey("nobody").address;
const instruction = (programAddress: Address, accounts: Instruction["accounts"] = []) => ({
  programAddress,
  accounts,
  data: Uint8Array.of(65),
});
const memo = (...accounts: Instruction["accounts"]) => instruction(MEMO_PROGRAM, accounts);
const transfer = (to: Address, lamports = 1_000_000n) =>
  transferLamports(payer.address, to, lamports);
const dataLimit = (bytes: number): Instruction => {
  const data = new Uint8Array(5);
  data[0] = 4;
  new DataView(data.buffer).setUint32(1, bytes, true);
  return { programAddress: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
};

const wire = (instructions: ReadonlyArray<Instruction>, from = payer) => {
  const { blockhash } = ledger.latestBlockhash();
  return encodeBase64(
    signedTransaction({ payer: from, instructions, blockhash }),
  ) as Base64EncodedWireTransaction;
};
const simulated = async (instructions: ReadonlyArray<Instruction>, from = payer) =>
  (await rpc.simulateTransaction(wire(instructions, from), { encoding: "base64" }).send()).value;
const loadedBy = async (...instructions: ReadonlyArray<Instruction>) =>
  Number((await simulated(instructions)).loadedAccountsDataSize);
const bytesAt = (of: Address): number => {
  const state = ledger.accounts.read(of, "processed");
  if (state === undefined) throw new Error(`no account ${of}`);
  return state.data.length;
};

/** A payer of no data, and the program every limit instruction calls. */
const PAYER = 64;
const LIMITED = 64 + "compute_budget_program".length;
const SYSTEM = 64 + "system_program".length;

describe("loadedAccountsDataSize counts as SIMD-0186 does", () => {
  test("an account that exists has 64 bytes and its data, one that does not has none", async () => {
    expect(await loadedBy()).toBe(PAYER);
    expect(await loadedBy(transfer(nobody))).toBe(PAYER + SYSTEM);
    expect(await loadedBy(transfer(LOCAL_USDC_MINT))).toBe(PAYER + SYSTEM + 64 + 82);
  });

  test("only the Compute Budget program's instruction of kind 4 sets the limit", async () => {
    const memoOfKind4 = { ...memo(), data: Uint8Array.of(4, 1, 0, 0, 0) };
    const units = Uint8Array.of(2, 0x40, 0x0d, 3, 0);
    const unitLimit = { programAddress: COMPUTE_BUDGET_PROGRAM, accounts: [], data: units };
    const { err } = await simulated([memoOfKind4, unitLimit, transfer(nobody)]);
    expect(err).toBeNull();
  });

  test("an account counts once, however many instructions name it", async () => {
    expect(await loadedBy(transfer(nobody, 1_000_000n), transfer(nobody, 2n))).toBe(PAYER + SYSTEM);
  });

  test("the instructions sysvar counts nothing", async () => {
    const without = await loadedBy(memo());
    expect(without).toBe(PAYER + 64 + bytesAt(MEMO_PROGRAM));
    expect(await loadedBy(memo(readonly(INSTRUCTIONS_SYSVAR)))).toBe(without);
  });

  test("a program counts with its ProgramData, once, called or named", async () => {
    const { custodyProgram } = LOCAL_DEPLOYMENT;
    const programData = programDataAddress(custodyProgram);
    const program = 64 + 36 + 64 + bytesAt(programData);
    const calls = instruction(custodyProgram);
    expect(await loadedBy(calls)).toBe(PAYER + program);
    expect(await loadedBy(calls, calls)).toBe(PAYER + program);
    const named = instruction(custodyProgram, [readonly(programData)]);
    expect(await loadedBy(named)).toBe(PAYER + program);
    expect(await loadedBy(memo(readonly(custodyProgram)))).toBe(
      PAYER + 64 + bytesAt(MEMO_PROGRAM) + program,
    );
  });

  test("the virtual machine's own limit, which counts by itself, agrees to the byte", async () => {
    const cases: ReadonlyArray<ReadonlyArray<Instruction>> = [
      [],
      [transfer(nobody)],
      [transfer(LOCAL_USDC_MINT)],
      [transfer(nobody), transfer(LOCAL_USDC_MINT)],
    ];
    for (const instructions of cases) {
      const size = (await loadedBy(...instructions)) + LIMITED;
      const at = await simulated([dataLimit(size), ...instructions]);
      expect(at).toMatchObject({ err: null, loadedAccountsDataSize: size });
      const below = await simulated([dataLimit(size - 1), ...instructions]);
      expect(below.err).toBe("MaxLoadedAccountsDataSizeExceeded");
    }
  });

  test("a limit below a program's ProgramData refuses the call, and without preflight the transaction is dropped", async () => {
    const calls = instruction(LOCAL_DEPLOYMENT.custodyProgram);
    const size = (await loadedBy(calls)) + LIMITED;
    expect((await simulated([dataLimit(size), calls])).err).toMatchObject({
      InstructionError: [1n, { Custom: 6000n }],
    });
    const short = [dataLimit(size - 1), calls];
    expect(await simulated(short)).toMatchObject({
      err: "MaxLoadedAccountsDataSizeExceeded",
      logs: [],
      loadedAccountsDataSize: 0,
    });
    const signature = await rpc
      .sendTransaction(wire(short), { encoding: "base64", skipPreflight: true })
      .send();
    const { value } = await rpc.getSignatureStatuses([signature]).send();
    expect(value).toEqual([null]);
  });

  test("a transaction that fails while it runs has loaded everything, also in the error of sendTransaction", async () => {
    const tooMuch = [transfer(nobody, 10n ** 15n)];
    expect(await simulated(tooMuch)).toMatchObject({
      err: { InstructionError: [0n, { Custom: 1n }] },
      loadedAccountsDataSize: PAYER + SYSTEM,
    });
    const { error } = await call(url, "sendTransaction", wire(tooMuch), { encoding: "base64" });
    expect(error?.data).toMatchObject({ loadedAccountsDataSize: PAYER + SYSTEM });
  });

  test.each<readonly [string, unknown, ReadonlyArray<Instruction>, typeof payer]>([
    ["a program that is not there", "ProgramAccountNotFound", [instruction(nobody)], payer],
    ["a payer that has nothing", "AccountNotFound", [memo()], localKey("a poor payer")],
    [
      "a compute budget that cannot be read",
      { InstructionError: [0n, "InvalidInstructionData"] },
      [instruction(COMPUTE_BUDGET_PROGRAM), memo()],
      payer,
    ],
  ])("%s has loaded nothing", async (_, err, instructions, from) => {
    const value = await simulated(instructions, from);
    expect(value.err as unknown).toEqual(err);
    expect(value.loadedAccountsDataSize).toBe(0);
  });
});

describe("a simulation shows fee and balances as a transaction's meta does", () => {
  const instructions = (to: Address) => [
    transfer(to),
    createAssociatedTokenInstruction({ payer: payer.address, owner: to, mint: LOCAL_USDC_MINT }),
  ];

  test("its prediction equals what the same transaction then shows", async () => {
    const to = localKey("paid once").address;
    const transaction = wire(instructions(to));
    const { value } = await rpc.simulateTransaction(transaction, { encoding: "base64" }).send();
    const signature = await rpc.sendTransaction(transaction, { encoding: "base64" }).send();
    time.advance(400);
    const landed = await rpc
      .getTransaction(signature, { encoding: "json", maxSupportedTransactionVersion: 0 })
      .send();
    const { fee, preBalances, postBalances, preTokenBalances, postTokenBalances } = value;
    expect(landed?.meta).toMatchObject({
      fee,
      preBalances,
      postBalances,
      preTokenBalances,
      postTokenBalances,
      computeUnitsConsumed: value.unitsConsumed,
      logMessages: value.logs,
    });
    expect(postTokenBalances?.map(({ owner }) => owner as string)).toEqual([to]);
    const ata = associatedTokenAddress(to, LOCAL_USDC_MINT);
    const message = landed?.transaction.message;
    expect(postTokenBalances?.[0]?.accountIndex).toBe(message?.accountKeys.indexOf(ata));
    expect(value.loadedAddresses).toEqual({ writable: [], readonly: [] });
  });

  test("a failing transaction pays only its fee, and one that is never charged shows no fee", async () => {
    const before = await rpc.getBalance(payer.address, { commitment: "processed" }).send();
    const failed = await simulated([transfer(nobody, 10n ** 15n)]);
    expect(failed).toMatchObject({ fee: 5000n });
    expect(failed.preBalances?.[0]).toBe(before.value);
    expect(failed.postBalances?.[0] as bigint).toBe(before.value - 5000n);
    const refused = await simulated([memo()], localKey("a poor payer"));
    expect(refused.fee).toBeNull();
    expect(refused.postBalances).toEqual(refused.preBalances);
  });
});

test("Agave's fields are all there, null where there is nothing to show", async () => {
  const { result } = await call(url, "simulateTransaction", wire([memo()]), { encoding: "base64" });
  const { value } = result as { value: Record<string, unknown> };
  expect(Object.keys(value).toSorted()).toEqual([
    "accounts",
    "err",
    "fee",
    "innerInstructions",
    "loadedAccountsDataSize",
    "loadedAddresses",
    "logs",
    "postBalances",
    "postTokenBalances",
    "preBalances",
    "preTokenBalances",
    "replacementBlockhash",
    "returnData",
    "unitsConsumed",
  ]);
  for (const name of ["accounts", "err", "innerInstructions", "replacementBlockhash", "returnData"])
    expect(value[name]).toBeNull();
});

test("instructions that were called are shown when asked for, null when nothing ran", async () => {
  const called = async (...instructions: ReadonlyArray<Instruction>) => {
    const options = { encoding: "base64", innerInstructions: true };
    const { result } = await call(url, "simulateTransaction", wire(instructions), options);
    return (result as { value: { innerInstructions: unknown } }).value.innerInstructions;
  };
  const input = { payer: payer.address, owner: nobody, mint: LOCAL_USDC_MINT };
  expect(await called(memo())).toEqual([]);
  expect(await called(createAssociatedTokenInstruction(input))).toMatchObject([{ index: 0 }]);
  expect(await called(instruction(nobody))).toBeNull();
});

describe("accounts that a simulation should show", () => {
  const asked = (accounts: unknown) =>
    call(url, "simulateTransaction", wire([transfer(nobody)]), { encoding: "base64", accounts });

  test.each<readonly [string, object, string]>([
    [
      "more than the transaction has",
      { addresses: [nobody, nobody, nobody, nobody] },
      "Too many accounts provided; max 3",
    ],
    ["one that is no address", { addresses: ["x"] }, "Invalid param: WrongSize"],
    ["in base58", { addresses: [nobody], encoding: "base58" }, "base58 encoding not supported"],
    ["none at all", {}, "Invalid params: missing field `addresses`."],
  ])("%s", async (_, accounts, message) => {
    expect((await asked(accounts)).error).toEqual({ code: -32602, message });
  });

  test("are shown as they would be", async () => {
    expect((await asked({ addresses: [nobody, SYSTEM_PROGRAM] })).result).toMatchObject({
      value: {
        accounts: [
          { lamports: 1_000_000, owner: SYSTEM_PROGRAM, data: ["", "base64"], space: 0 },
          { data: [Buffer.from("system_program").toString("base64"), "base64"] },
        ],
      },
    });
  });
});
