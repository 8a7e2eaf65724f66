import { expect, test } from "bun:test";
import {
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createTransactionMessage,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import fc from "fast-check";
import type { Address } from "../../../../core/domain/address.ts";
import type { AccountRole, Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { unsignedTransaction } from "../../../../core/protocol/transaction/unsigned-transaction.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { anyAddress } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

/** As many signatures as kit lets a message ask for; more leave no room in 1232 bytes. */
const MAX_SIGNERS = 12;

const anyCase = fc
  .array(anyAddress, { minLength: 4, maxLength: 24 })
  .map((addresses) => [...new Set(addresses)])
  .filter((addresses) => addresses.length > 3)
  .chain(([payer, hash, program, ...others]) =>
    fc.record({
      payer: fc.constant(payer as Address),
      hash: fc.constant(hash as Address),
      instructions: fc.array(
        fc.record({
          programAddress: fc.constant(program as Address),
          accounts: fc.array(
            fc.record({
              address: fc.constantFrom(payer as Address, ...others),
              role: fc.constantFrom<AccountRole>(0, 1, 2, 3),
            }),
            { maxLength: 30 },
          ),
          data: fc.uint8Array({ maxLength: 300 }),
        }),
        { maxLength: 4 },
      ),
    }),
  )
  .filter(({ payer, instructions }) => {
    const signers = instructions.flatMap(({ accounts }) =>
      accounts.flatMap(({ address, role }) => (role >= 2 ? [address] : [])),
    );
    return new Set([payer, ...signers]).size <= MAX_SIGNERS;
  });

/** A decoded transaction with account indexes replaced by addresses and rights. */
const meaning = (bytes: Uint8Array) => {
  const decoded = decodeWireTransaction(bytes);
  if ("malformed" in decoded) throw new Error(decoded.malformed);
  const { staticAccounts, signerCount, readonlySigners, readonlyOthers } = decoded.value;
  return {
    blockhash: decoded.value.blockhash,
    payer: decoded.value.feePayer,
    signers: staticAccounts.slice(0, signerCount).toSorted(),
    writable: staticAccounts
      .filter((_, i) =>
        i < signerCount
          ? i < signerCount - readonlySigners
          : i < staticAccounts.length - readonlyOthers,
      )
      .toSorted(),
    calls: decoded.value.instructions.map(({ program, accounts, data }) => ({
      program,
      accounts: accounts.map((place) => staticAccounts[place]),
      data: [...data],
    })),
  };
};

test("an unsigned transaction has the length and the decoded content of kit's own", () => {
  fc.assert(
    fc.property(anyCase, ({ payer, hash, instructions }) => {
      const made = unsignedTransaction({ payer, blockhash: hash, instructions });
      const compiled = compileTransactionMessage(
        pipe(
          createTransactionMessage({ version: 0 }),
          (m) => setTransactionMessageFeePayer(payer, m),
          (m) =>
            setTransactionMessageLifetimeUsingBlockhash(
              { blockhash: blockhash(hash), lastValidBlockHeight: 0n },
              m,
            ),
          (m) => appendTransactionMessageInstructions(instructions as Array<Instruction>, m),
        ),
      );
      const { header, staticAccounts } = compiled;
      const found = meaning(made.bytes);
      expect(found.signers as Array<string>).toEqual(
        staticAccounts.slice(0, header.numSignerAccounts).toSorted(),
      );
      expect(found.writable as Array<string>).toEqual(
        staticAccounts
          .filter((_, i) =>
            i < header.numSignerAccounts
              ? i < header.numSignerAccounts - header.numReadonlySignerAccounts
              : i < staticAccounts.length - header.numReadonlyNonSignerAccounts,
          )
          .toSorted(),
      );
      expect(found).toMatchObject({ payer, blockhash: hash });
      expect(found.calls).toEqual(
        instructions.map(({ programAddress, accounts, data }) => ({
          program: programAddress,
          accounts: accounts.map(({ address }) => address),
          data: [...data],
        })),
      );
      expect(made.signers.toSorted()).toEqual(found.signers);
      expect(Buffer.from(made.bytes).subarray(-made.message.length)).toEqual(
        Buffer.from(made.message),
      );
    }),
    runs(60),
  );
});
