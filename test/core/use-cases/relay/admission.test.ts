import { describe, expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import { addressToBytes } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { AccountRole, type Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { RELAY_POLICY } from "../../../../core/domain/relay/relay-policy.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  SYSTEM_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { admitTransaction } from "../../../../core/use-cases/relay/relay-admission.ts";
import { Instance } from "../../../../ports/instance.ts";
import { encodeTransaction, type TransactionParts } from "../../../arbitraries/wire-transaction.ts";
import * as s from "../../../programs/fixture/settlement.ts";
import { nowhere } from "../../../programs/fixture/tampering.ts";
import { testInstance } from "../test-instance.ts";
import { signedBase64, signedBytes } from "./signed.ts";

const refusal = (base64: string) => {
  const exit = Effect.runSyncExit(
    Effect.provideService(admitTransaction(base64), Instance, testInstance()),
  );
  const failure = Exit.findErrorOption(exit);
  return failure._tag === "Some" ? failure.value : undefined;
};

const budget = (discriminator: number, value: bigint, bytes: 4 | 8): Instruction => {
  const writer = fieldWriter(1 + bytes).u8(discriminator);
  const data = bytes === 4 ? writer.u32(Number(value)).done() : writer.u64(value).done();
  return { programAddress: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
};
const unitLimit = (units: bigint) => budget(2, units, 4);
const unitPrice = (microLamports: bigint) => budget(3, microLamports, 8);
const release = [s.attestInstruction(), s.releaseInstruction()];
const withBudget = (...instructions: ReadonlyArray<Instruction>) =>
  refusal(signedBase64([...instructions, ...release], [s.stranger]));

describe("compute budget", () => {
  const { maxComputeUnits, maxComputeUnitPrice } = RELAY_POLICY;

  test("up to the limits is accepted", () => {
    expect(
      withBudget(unitLimit(BigInt(maxComputeUnits)), unitPrice(maxComputeUnitPrice)),
    ).toBeUndefined();
  });

  test("more is refused with the requested value and the limit", () => {
    expect(withBudget(unitLimit(BigInt(maxComputeUnits) + 1n))).toMatchObject({
      _tag: "ComputeBudgetExceeded",
      limit: "units",
      actual: BigInt(maxComputeUnits) + 1n,
      max: BigInt(maxComputeUnits),
    });
    expect(withBudget(unitPrice(2n ** 64n - 1n))).toMatchObject({
      _tag: "ComputeBudgetExceeded",
      limit: "unit_price",
      actual: 2n ** 64n - 1n,
      max: maxComputeUnitPrice,
    });
  });

  test("Compute Budget instructions that no ledger accepts are refused before any node is asked", () => {
    expect(withBudget(unitLimit(1n), unitLimit(1n))).toMatchObject({
      _tag: "ComputeBudgetInvalid",
      instructionIndex: 1,
      detail: "sets the compute unit limit a second time",
    });
    expect(withBudget(budget(4, 0n, 4))).toMatchObject({
      _tag: "ComputeBudgetInvalid",
      instructionIndex: 0,
      detail: "limits loaded account data to 0 bytes",
    });
    expect(withBudget(budget(4, 1n, 4))).toBeUndefined();
  });

  test("a second, modest instruction does not hide an excessive one", () => {
    const both = withBudget(unitPrice(maxComputeUnitPrice + 1n), unitPrice(1n));
    expect(both).toMatchObject({ _tag: "ComputeBudgetExceeded" });
  });
});

describe("more than any ledger runs", () => {
  const key = (n: number) => new Uint8Array(32).fill(n);
  const attestor = addressToBytes(testInstance().deployment.attestorProgram);
  const call = (accounts: ReadonlyArray<number> = []) => ({
    program: 1,
    accounts,
    data: Uint8Array.of(1),
  });
  const of = (parts: Pick<TransactionParts, "instructions" | "tables">) =>
    refusal(
      encodeBase64(
        encodeTransaction({
          version: 0,
          signatures: [new Uint8Array(64).fill(1)],
          header: [1, 0, 1],
          accounts: [addressToBytes(s.stranger.address), attestor],
          blockhash: key(3),
          ...parts,
        }),
      ),
    );
  /** Within the limits, with an invalid signature. */
  const isWithin = { _tag: "SignatureInvalid" };

  test.each<readonly [number, object]>([
    [64, isWithin],
    [65, { detail: "has 65 instructions; at most 64 can run" }],
  ])("%p instructions", (count, expected) => {
    const instructions = Array.from({ length: count }, () => call());
    expect(of({ instructions, tables: [] })).toMatchObject(expected);
  });

  test.each<readonly [number, object]>([
    [255, isWithin],
    [256, { detail: "has an instruction of more than 255 accounts" }],
  ])("%p accounts of an instruction", (count, expected) => {
    const instructions = [call(Array.from({ length: count }, () => 0))];
    expect(of({ instructions, tables: [] })).toMatchObject(expected);
  });

  test.each<readonly [number, object]>([
    [126, isWithin],
    [127, { detail: "names 129 accounts; at most 128 can be locked" }],
  ])("%p accounts of an address table beside two of its own", (count, expected) => {
    const writable = Array.from({ length: count }, (_, place) => place);
    const tables = [{ address: key(4), writable, readonly: [] }];
    expect(of({ instructions: [call()], tables })).toMatchObject(expected);
  });
});

test("a durable nonce is refused", () => {
  const advance: Instruction = {
    programAddress: SYSTEM_PROGRAM,
    accounts: [
      { address: nowhere, role: AccountRole.writable },
      { address: s.agentTokens, role: AccountRole.readonly },
      { address: s.stranger.address, role: AccountRole.readonlySigner },
    ],
    data: Uint8Array.of(4, 0, 0, 0),
  };
  expect(refusal(signedBase64([advance, ...release], [s.stranger]))).toMatchObject({
    _tag: "DurableNonceNotAllowed",
  });
});

test("a version 1 transaction is refused as such, whatever its size", () => {
  for (const length of [200, 2000])
    expect(refusal(encodeBase64(new Uint8Array(length).fill(129, 0, 1)))).toMatchObject({
      _tag: "TransactionMalformed",
      detail: "is of version 1; sign a legacy or version 0 one",
    });
});

test("a program id from an address table is refused as such", () => {
  const key = (n: number) => new Uint8Array(32).fill(n);
  const parts: TransactionParts = {
    version: 0,
    signatures: [new Uint8Array(64).fill(1)],
    header: [1, 0, 0],
    accounts: [key(1), key(2)],
    blockhash: key(3),
    instructions: [{ program: 2, accounts: [], data: Uint8Array.of(1) }],
    tables: [{ address: key(4), writable: [0], readonly: [] }],
  };
  expect(refusal(encodeBase64(encodeTransaction(parts)))).toMatchObject({
    _tag: "LookupTableNotAllowed",
  });
});

test("a signature of another transaction is refused, and so is a missing one", () => {
  const bytes = signedBytes(release, [s.stranger]);
  const other = signedBytes([...release, unitLimit(1n)], [s.stranger]);
  const swapped = Uint8Array.from([1, ...other.slice(1, 65), ...bytes.slice(65)]);
  expect(refusal(encodeBase64(swapped))).toMatchObject({
    _tag: "SignatureInvalid",
    signer: s.stranger.address,
  });
  expect(refusal(encodeBase64(bytes.slice().fill(0, 1, 65)))).toMatchObject({
    _tag: "SignatureMissing",
    signer: s.stranger.address,
  });
});
