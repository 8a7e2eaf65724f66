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
