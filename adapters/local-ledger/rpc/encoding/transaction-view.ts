import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import type { WireMessage } from "../../../../core/protocol/transaction/wire-message.ts";
import {
  decodeSanitizedTransaction,
  type WireTransaction,
} from "../../../../core/protocol/transaction/wire-transaction.ts";
import { type AccountKeys, accountKeysOf } from "../../runtime/accounts/account-keys.ts";
import type { LoggedTransaction } from "../../runtime/transactions/transaction-log.ts";
import type { InnerInstructions } from "../../runtime/transactions/transaction-meta.ts";

/** How a transaction can be shown. `binary` is bare base58, which Agave keeps for old clients. */
export const TRANSACTION_ENCODINGS = ["binary", "base64", "base58", "json", "jsonParsed"] as const;
/** See `TRANSACTION_ENCODINGS`. */
export type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

/** A landed transaction names no account twice, so its programs can be found by address. */
const compiledInstructions = ({ staticAccounts, instructions }: WireMessage) =>
  instructions.map(({ program, accounts, data }) => ({
    programIdIndex: staticAccounts.indexOf(program),
    accounts,
    data: encodeBase58(data),
    stackHeight: 1,
  }));

const jsonMessage = (message: WireMessage) => ({
  header: {
    numRequiredSignatures: message.signerCount,
    numReadonlySignedAccounts: message.readonlySigners,
    numReadonlyUnsignedAccounts: message.readonlyOthers,
  },
  accountKeys: message.staticAccounts,
  recentBlockhash: message.blockhash,
  instructions: compiledInstructions(message),
  ...(message.version === 0
    ? {
        addressTableLookups: message.tables.map(({ table, writable, readonly }) => ({
          accountKey: table,
          writableIndexes: writable,
          readonlyIndexes: readonly,
        })),
      }
    : {}),
});

/** This ledger parses no program's instructions. For those, nodes name program and accounts and show the raw data. */
const named = (keys: AccountKeys) => (instruction: InnerInstructions["instructions"][number]) => ({
  programId: keys.all[instruction.programIdIndex],
  accounts: instruction.accounts.map((index) => keys.all[index]),
  data: instruction.data,
  stackHeight: instruction.stackHeight,
});

const parsedAccounts = (message: WireMessage, keys: AccountKeys) =>
  keys.all.map((pubkey, index) => ({
    pubkey,
    writable: keys.isWritable(index),
    signer: keys.isSigner(index),
    source: index < message.staticAccounts.length ? "transaction" : "lookupTable",
  }));

const parsedMessage = (message: WireMessage, keys: AccountKeys) => {
  const { header: _, ...shown } = jsonMessage(message);
  return {
    ...shown,
    accountKeys: parsedAccounts(message, keys),
    instructions: compiledInstructions(message).map(named(keys)),
  };
};

const decodeLogged = (logged: LoggedTransaction): WireTransaction => {
  const decoded = decodeSanitizedTransaction(logged.wire);
  if ("malformed" in decoded) throw new Error("the log holds a transaction that cannot be read");
  return decoded.value;
};

/** `transaction`, `meta` and `version` of a logged transaction, as getTransaction shows them. */
export const viewTransaction = (logged: LoggedTransaction, encoding: TransactionEncoding) => {
  const { meta } = logged;
  const transaction = decodeLogged(logged);
  const { version } = transaction;
  const signatures = transaction.signatures.map(ledgerSignatureFromBytes);
  switch (encoding) {
    case "base64":
      return {
        version,
        meta,
        transaction: [Buffer.from(logged.wire).toString("base64"), encoding],
      };
    case "binary":
      return { version, meta, transaction: encodeBase58(logged.wire) };
    case "base58":
      return { version, meta, transaction: [encodeBase58(logged.wire), encoding] };
    case "json":
      return { version, meta, transaction: { signatures, message: jsonMessage(transaction) } };
    case "jsonParsed": {
      const keys = accountKeysOf(transaction, meta.loadedAddresses);
      const innerInstructions = meta.innerInstructions.map(({ index, instructions }) => ({
        index,
        instructions: instructions.map(named(keys)),
      }));
      // `accountKeys` contains the accounts of address tables here, so Agave does not list them again.
      const { loadedAddresses: _, ...shown } = meta;
      return {
        version,
        meta: { ...shown, innerInstructions },
        transaction: { signatures, message: parsedMessage(transaction, keys) },
      };
    }
  }
};
