import { expect, test } from "bun:test";
import {
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import * as fc from "fast-check";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import type { AccountRole } from "../../../../core/domain/ledger/instruction.ts";
import { decodeWireMessage } from "../../../../core/protocol/transaction/wire-transaction.ts";

const addressOf = (n: number) => addressFromBytes(new Uint8Array(32).fill(n));
const PAYER = addressOf(255);
const TABLE = addressOf(254);
const person = fc.integer({ min: 1, max: 40 });
// A transaction has at most twelve signers.
const account = fc
  .tuple(person, fc.nat(3))
  .map(([n, role]) => ({ address: addressOf(n), role: (n < 10 ? role : role % 2) as AccountRole }));
const program = fc.integer({ min: 100, max: 103 }).map(addressOf);
const instruction = fc.record({
  programAddress: program,
  accounts: fc.array(account, { maxLength: 12 }),
  data: fc.uint8Array({ maxLength: 300 }),
});

const encoded = fc
  .record({
    version: fc.constantFrom(0 as const, "legacy" as const),
    instructions: fc.array(instruction, { maxLength: 5 }),
    inTable: fc.uniqueArray(person, { maxLength: 10 }),
  })
  .map(({ version, instructions, inTable }) => {
    const filled = (of: 0 | "legacy") =>
      pipe(
        setTransactionMessageFeePayer(PAYER, createTransactionMessage({ version: of })),
        (m) =>
          setTransactionMessageLifetimeUsingBlockhash(
            { blockhash: blockhash(PAYER), lastValidBlockHeight: 0n },
            m,
          ),
        (m) => appendTransactionMessageInstructions(instructions, m),
      );
    const compressed = (): ReturnType<typeof filled> =>
      compressTransactionMessageUsingAddressLookupTables(filled(0) as never, {
        [TABLE]: inTable.map((n) => addressOf(n)),
      });
    const compiled = compileTransactionMessage(version === 0 ? compressed() : filled(version));
    return new Uint8Array(getCompiledTransactionMessageEncoder().encode(compiled));
  });

test("a message is read as kit reads it", () => {
  fc.assert(
    fc.property(encoded, (bytes) => {
      const theirs = getCompiledTransactionMessageDecoder().decode(bytes);
      const ours = decodeWireMessage(bytes);
      const instructions = "instructions" in theirs ? theirs.instructions : [];
      const lookups = "addressTableLookups" in theirs ? (theirs.addressTableLookups ?? []) : [];
      expect(ours as unknown).toEqual({
        version: theirs.version,
        signerCount: theirs.header.numSignerAccounts,
        readonlySigners: theirs.header.numReadonlySignerAccounts,
        readonlyOthers: theirs.header.numReadonlyNonSignerAccounts,
        staticAccounts: theirs.staticAccounts,
        feePayer: theirs.staticAccounts[0],
        blockhash: theirs.lifetimeToken,
        instructions: instructions.map((each) => ({
          program: theirs.staticAccounts[each.programAddressIndex],
          accounts: each.accountIndices ?? [],
          data: Uint8Array.from(each.data ?? []),
        })),
        tables: lookups.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
          table: lookupTableAddress,
          writable: writableIndexes,
          readonly: readonlyIndexes,
        })),
      });
    }),
  );
});

test("missing or further bytes at the end make it malformed", () => {
  fc.assert(
    fc.property(
      encoded,
      fc.nat(),
      fc.uint8Array({ minLength: 1, maxLength: 3 }),
      (bytes, cut, more) => {
        expect(decodeWireMessage(bytes.subarray(0, cut % bytes.length))).toBeUndefined();
        expect(decodeWireMessage(new Uint8Array([...bytes, ...more]))).toBeUndefined();
      },
    ),
  );
});

test("any bytes are read without a throw", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const message = decodeWireMessage(bytes);
      expect(message === undefined || message.staticAccounts.length > 0).toBe(true);
    }),
  );
});
