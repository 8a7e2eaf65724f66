import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decodeBase58OfAnyLength } from "../../../../adapters/solana-rpc/transport/base64-bytes.ts";
import {
  parseHistory,
  parseTransaction,
} from "../../../../adapters/solana-rpc/history/ledger-archive-solana-rpc.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { runs } from "../../../arbitraries/runs.ts";
import {
  parseErr,
  parseTransactionError,
} from "../../../../adapters/solana-rpc/history/transaction-json.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { archiveEscrowInstruction } from "../../../../core/protocol/instructions/custody-instructions.ts";
import { archivedBytesOf } from "../../../../core/protocol/transaction/transaction-effects.ts";
import { escrow, STRANGER } from "../../http/support/parties.ts";

const nth = (n: number) => addressFromBytes(new Uint8Array(32).fill(n));

const SIGNATURE = ledgerSignatureFromBytes(new Uint8Array(64).fill(9));

const transaction = (meta: object, message: object = {}) => ({
  slot: 5,
  blockTime: null,
  version: 0,
  meta: { err: null, ...meta },
  transaction: {
    signatures: [SIGNATURE],
    message: {
      header: { numRequiredSignatures: 1 },
      accountKeys: [nth(1), nth(2)],
      instructions: [
        {
          programIdIndex: 1,
          accounts: [0, 2],
          data: encodeBase58(Uint8Array.of(31, 223, 99)),
          stackHeight: 1,
        },
      ],
      ...message,
    },
  },
});

const loadedAddresses = { writable: [nth(3)], readonly: [nth(4)] };

const called = { programIdIndex: 3, accounts: [2], data: "", stackHeight: 2 };

describe("transactions in JSON", () => {
  test("their instructions, including those that programs called, name accounts from tables too", () => {
    const json = transaction({
      loadedAddresses,
      innerInstructions: [{ index: 0, instructions: [called] }],
    });
    expect(parseTransaction(SIGNATURE, json)).toEqual({
      signature: SIGNATURE,
      slot: 5n,
      failed: false,
      signers: new Set([nth(1)]),
      accounts: [nth(1), nth(2), nth(3), nth(4)],
      instructions: [
        { program: nth(2), accounts: [nth(1), nth(3)], data: Uint8Array.of(31, 223, 99) },
        { program: nth(4), accounts: [nth(3)], data: new Uint8Array() },
      ],
      hasCalls: true,
    });
  });

  test("without a record of called instructions they say so", () => {
    for (const innerInstructions of [null, undefined]) {
      const json = transaction({ loadedAddresses, innerInstructions });
      const { innerInstructions: _, ...meta } = json.meta as Record<string, unknown>;
      const older = innerInstructions === undefined ? { ...json, meta } : json;
      expect(parseTransaction(SIGNATURE, older)).toMatchObject({ hasCalls: false });
    }
  });

  test("an error is a failure, null is no transaction, and anything else is malformed", () => {
    const err = { InstructionError: [0, { Custom: 6000 }] };
    expect(parseTransaction(SIGNATURE, transaction({ err, loadedAddresses }))?.failed).toBe(true);
    expect(parseTransaction(SIGNATURE, null)).toBeNull();
    for (const wrong of [
      {},
      [],
      "x",
      transaction({}),
      { ...transaction({ loadedAddresses }), slot: -1 },
      transaction({ loadedAddresses: { writable: ["x"], readonly: [nth(1)] } }),
      transaction({ loadedAddresses }, { accountKeys: "none" }),
      transaction({ loadedAddresses }, { instructions: [{ ...called, data: "0O" }] }),
      transaction({ loadedAddresses }, { instructions: [{ ...called, programIdIndex: 9 }] }),
      { ...transaction({ loadedAddresses }), meta: null },
    ]) {
      expect(parseTransaction(SIGNATURE, wrong)).toBeUndefined();
    }
  });

  test("a list has each transaction's slot, whether it failed, and why where the node says it in a known form", () => {
    const row = { signature: SIGNATURE, slot: 7, err: null, memo: null, blockTime: 1 };
    const listed = [row, { ...row, err: "AccountInUse" }, { ...row, err: 7 }];
    const known = { signature: SIGNATURE, slot: 7n };
    const error = {
      kind: "AccountInUse",
      instructionIndex: null,
      instructionError: null,
      customCode: null,
    };
    expect(parseHistory(listed)).toEqual([
      { ...known, failed: false },
      { ...known, failed: true, error },
      { ...known, failed: true, error: null },
    ]);
    for (const wrong of [null, {}, [null], [{ ...row, signature: "x" }], [{ ...row, slot: "7" }]]) {
      expect(parseHistory(wrong)).toBeUndefined();
    }
  });

  test("base58 of any length is read back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.nat({ max: 5 }), (bytes, zeros) => {
        const data = Uint8Array.of(...new Uint8Array(zeros), ...bytes);
        expect(decodeBase58OfAnyLength(encodeBase58(data))).toEqual(data);
      }),
      runs(300),
    );
    expect(decodeBase58OfAnyLength("0")).toBeUndefined();
    expect(decodeBase58OfAnyLength("z".repeat(2000))).toBe("long");
  });
});

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

describe("archived bytes", () => {
  const gone = escrow("archived by a program", "Refunded");

  const lastBytes = encodeEscrowAccount(gone);

  const archive = archiveEscrowInstruction(LOCAL_DEPLOYMENT, {
    escrow: gone.address,
    rentPayer: gone.rentPayer,
    lastBytes,
  });

  const { custodyProgram } = LOCAL_DEPLOYMENT;

  const CALLER = addressFromBytes(new Uint8Array(32).fill(99));

  const SIGNATURE = ledgerSignatureFromBytes(new Uint8Array(64).fill(1));

  /** The JSON of a transaction whose one instruction is the caller's, or custody's own. */
  const transaction = (where: "inner" | "top", err: unknown = null) => {
    const accountKeys = [STRANGER, gone.address, gone.rentPayer, custodyProgram, CALLER];
    const compiled = { programIdIndex: 3, accounts: [1, 2], data: encodeBase58(archive.data) };
    const caller = { programIdIndex: 4, accounts: [1, 2, 3], data: "" };
    return {
      slot: 7,
      transaction: {
        signatures: [SIGNATURE],
        message: {
          header: { numRequiredSignatures: 1 },
          accountKeys,
          instructions: [where === "top" ? compiled : caller],
        },
      },
      meta: {
        err,
        innerInstructions: where === "inner" ? [{ index: 0, instructions: [compiled] }] : [],
      },
    };
  };

  const bytesIn = (json: unknown) => {
    const parsed = parseTransaction(SIGNATURE, json);
    if (!parsed) throw new Error("the JSON is not a transaction");
    return archivedBytesOf(parsed, LOCAL_DEPLOYMENT);
  };

  test.each(["inner", "top"] as const)(
    "the last bytes are found in an instruction of the %s level, unless the transaction failed",
    (where) => {
      expect(bytesIn(transaction(where))).toEqual([{ escrow: gone.address, data: lastBytes }]);
      expect(bytesIn(transaction(where, { InstructionError: [0, "Custom"] }))).toEqual([]);
    },
  );

  test("another program's instruction with the same data is none", () => {
    const json = transaction("top");
    json.transaction.message.accountKeys[3] = CALLER;
    expect(bytesIn(json)).toEqual([]);
  });
});
