import { expect, test } from "bun:test";
import { parseTransaction } from "../../../../adapters/solana-rpc/history/ledger-archive-solana-rpc.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { archiveEscrowInstruction } from "../../../../core/protocol/instructions/custody-instructions.ts";
import { archivedBytesOf } from "../../../../core/protocol/transaction/transaction-effects.ts";
import { escrow, STRANGER } from "../../http/support/parties.ts";

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
