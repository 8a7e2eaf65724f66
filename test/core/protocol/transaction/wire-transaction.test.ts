import { describe, expect, test } from "bun:test";
import {
  type CompiledTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
} from "@solana/kit";
import fc from "fast-check";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import {
  decodeSanitizedTransaction,
  decodeWireTransaction,
  MAX_TRANSACTION_BYTES,
} from "../../../../core/protocol/transaction/wire-transaction.ts";
import {
  anyTransaction,
  encodeMessage,
  encodeTransaction,
  shortVec,
  type TransactionParts,
} from "../../../arbitraries/wire-transaction.ts";
import { runs } from "../../../arbitraries/runs.ts";

const same = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a.length === b.length && Array.from(a).every((byte, i) => byte === b[i]);

/** The rules of Agave's `Message::sanitize`, legacy and v0, and that no account is loaded twice. */
const isSane = (message: CompiledTransactionMessage): boolean => {
  if (message.version === 1) return false;
  const { header, staticAccounts, instructions } = message;
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  const lookups = (message.version === 0 ? message.addressTableLookups : undefined) ?? [];
  const loaded = lookups.map((t) => t.readonlyIndexes.length + t.writableIndexes.length);
  const total = loaded.reduce((sum, count) => sum + count, staticAccounts.length);
  return (
    numSignerAccounts + numReadonlyNonSignerAccounts <= staticAccounts.length &&
    numReadonlySignerAccounts < numSignerAccounts &&
    loaded.every((count) => count > 0) &&
    total <= 256 &&
    new Set(staticAccounts).size === staticAccounts.length &&
    instructions.every(
      ({ programAddressIndex, accountIndices = [] }) =>
        programAddressIndex > 0 &&
        programAddressIndex < staticAccounts.length &&
        accountIndices.every((place) => place < total),
    )
  );
};

/** Whether kit decodes the bytes as one valid transaction and encodes it as exactly these bytes. */
const byKit = (bytes: Uint8Array): boolean => {
  try {
    const transaction = getTransactionDecoder().decode(bytes);
    if (!same(getTransactionEncoder().encode(transaction), bytes)) return false;
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const again = getCompiledTransactionMessageEncoder().encode(message);
    return same(again, transaction.messageBytes) && isSane(message);
  } catch {
    return false;
  }
};

const key = (i: number): Uint8Array => new Uint8Array(32).fill(i + 1);
const callOf = (program: number, ...accounts: ReadonlyArray<number>) => ({
  program,
  accounts,
  data: Uint8Array.of(1),
});

const accepted = (bytes: Uint8Array): boolean => "value" in decodeWireTransaction(bytes);

describe("wire transaction", () => {
  test("every part of a legacy or version 0 transaction is read, and kit reads the same bytes", () => {
    fc.assert(
      fc.property(anyTransaction, (parts) => {
        const bytes = encodeTransaction(parts);
        const accounts = parts.accounts.map(addressFromBytes);
        const [feePayer] = accounts;
        expect(decodeWireTransaction(bytes) as unknown).toEqual({
          value: {
            version: parts.version,
            bytes,
            signerCount: parts.header[0],
            signatures: parts.signatures,
            signature: encodeBase58(parts.signatures[0] ?? new Uint8Array(0)),
            message: encodeMessage(parts),
            staticAccounts: accounts,
            readonlySigners: parts.header[1],
            readonlyOthers: parts.header[2],
            tables: parts.tables.map(({ address, writable, readonly }) => ({
              table: addressFromBytes(address),
              writable,
              readonly,
            })),
            feePayer,
            blockhash: encodeBase58(parts.blockhash),
            instructions: parts.instructions.map(({ program, accounts: places, data }) => ({
              program: accounts[program],
              accounts: places,
              data,
            })),
          },
        });
        expect(byKit(bytes)).toBe(true);
      }),
      runs(150),
    );
  });

  test("a changed byte is accepted only when kit decodes a valid transaction and encodes it the same", () => {
    const change = fc.tuple(
      fc.double({ min: 0, max: 1, maxExcluded: true }),
      fc.integer({ min: 1, max: 255 }),
    );
    fc.assert(
      fc.property(
        anyTransaction,
        fc.array(change, { minLength: 20, maxLength: 20 }),
        (parts, changes) => {
          const bytes = encodeTransaction(parts);
          const structure = 1 + 64 * parts.signatures.length;
          changes.forEach(([place, mask], i) => {
            // Every second change falls on the lengths, indexes and counts before the keys.
            const at = i % 2 === 0 ? structure + (i % 5) : Math.floor(place * bytes.length);
            const changed = bytes.with(at, (bytes[at] ?? 0) ^ mask);
            expect([at, mask, accepted(changed)]).toEqual([at, mask, byKit(changed)]);
          });
        },
      ),
      runs(40),
    );
  });

  test("nothing may be missing at the end, and nothing may follow it", () => {
    fc.assert(
      fc.property(anyTransaction, fc.uint8Array({ minLength: 1, maxLength: 5 }), (parts, tail) => {
        const bytes = encodeTransaction(parts);
        expect(accepted(Uint8Array.from([...bytes, ...tail]))).toBe(false);
        for (let length = 0; length < bytes.length; length += 7) {
          expect(accepted(bytes.slice(0, length))).toBe(false);
        }
        expect(accepted(bytes.slice(0, -1))).toBe(false);
      }),
      runs(40),
    );
  });

  test("random bytes are not a transaction and never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: MAX_TRANSACTION_BYTES + 100 }), (bytes) => {
        expect(accepted(bytes)).toBe(byKit(bytes));
      }),
      runs(300),
    );
    for (const length of [0, 1, 64, 65, 200, 1232]) {
      expect(accepted(new Uint8Array(length))).toBe(false);
      expect(accepted(new Uint8Array(length).fill(255))).toBe(false);
    }
  });
});

describe("each rule of a wire transaction", () => {
  const base: TransactionParts = {
    version: 0,
    signatures: [new Uint8Array(64).fill(9)],
    header: [1, 0, 1],
    accounts: [key(0), key(1)],
    blockhash: key(7),
    instructions: [{ program: 1, accounts: [0], data: Uint8Array.of(1, 2) }],
    tables: [],
  };
  const outcome = (changes: Partial<TransactionParts>) =>
    decodeWireTransaction(encodeTransaction({ ...base, ...changes }));
  const table = { address: key(8), writable: [4], readonly: [5] };

  test("the base transaction itself is accepted", () => {
    expect(outcome({})).toHaveProperty("value");
    expect(outcome({ tables: [table] })).toHaveProperty("value.tables.length", 1);
    const largest = { ...table, writable: Array.from({ length: 253 }, () => 1) };
    expect(outcome({ tables: [largest] })).toHaveProperty("value.tables.0.writable.length", 253);
  });

  const refused: ReadonlyArray<readonly [string, Partial<TransactionParts>]> = [
    ["no signature at all", { signatures: [], header: [0, 0, 1] }],
    ["fewer signatures than signers", { header: [2, 0, 0] }],
    [
      "more signatures than signers",
      { signatures: [key(1), key(2)].map((k) => new Uint8Array([...k, ...k])) },
    ],
    ["a fee payer that is not writable", { header: [1, 1, 1] }],
    ["a header that counts more accounts than there are", { header: [1, 0, 2] }],
    ["an account named twice", { accounts: [key(1), key(1)] }],
    ["a program that is the fee payer", { instructions: [callOf(0)] }],
    ["a program that is not there", { instructions: [callOf(2)] }],
    ["a program out of an address table", { instructions: [callOf(2)], tables: [table] }],
    ["an account that is not there", { instructions: [callOf(1, 2)] }],
    ["an account behind those of the tables", { instructions: [callOf(1, 4)], tables: [table] }],
    ["an address table that loads nothing", { tables: [{ ...table, writable: [], readonly: [] }] }],
    [
      "more than 256 accounts",
      { tables: [{ ...table, writable: Array.from({ length: 254 }, () => 1) }] },
    ],
  ];

  test.each(refused)("%s is refused", (_, changes) => {
    expect(outcome(changes)).toHaveProperty("malformed");
    expect(byKit(encodeTransaction({ ...base, ...changes }))).toBe(false);
  });

  test("an account named twice is decoded, because the ledger itself must refuse it", () => {
    const twice = encodeTransaction({ ...base, accounts: [key(1), key(1)] });
    expect(decodeWireTransaction(twice)).toMatchObject({ malformed: "names an account twice" });
    const decoded = decodeSanitizedTransaction(twice);
    expect(decoded).toHaveProperty("value.staticAccounts.length", 2);
    for (const changes of [{ header: [2, 0, 0] }, { header: [1, 1, 1] }] as const)
      expect(decodeSanitizedTransaction(encodeTransaction({ ...base, ...changes }))).toHaveProperty(
        "malformed",
      );
  });

  test("a length must be written in its shortest form and stay below 65536", () => {
    const [count, ...rest] = encodeTransaction(base);
    const withCount = (...length: ReadonlyArray<number>) =>
      accepted(Uint8Array.from([...length, ...rest]));
    expect(count).toBe(1);
    expect(withCount(1)).toBe(true);
    expect(withCount(0x81, 0x00)).toBe(false);
    expect(withCount(0x81, 0x80, 0x00)).toBe(false);
    expect(withCount(0x81, 0x80, 0x80, 0x00)).toBe(false);
    expect(withCount(0xff, 0xff, 0x04)).toBe(false);
    expect(shortVec(128)).toEqual([0x80, 0x01]);
  });

  test("other versions are refused", () => {
    const bytes = encodeTransaction(base);
    for (const version of [129, 130, 255]) expect(accepted(bytes.with(65, version))).toBe(false);
  });
});
