import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import type { WireMessage } from "../../../core/protocol/transaction/wire-message.ts";
import { decodeSanitizedTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import { type AccountKeys, resolveAccountKeys } from "../runtime/accounts/account-keys.ts";
import type { LoggedTransaction } from "../runtime/transactions/transaction-log.ts";
import type {
  InnerInstructions,
  TransactionMeta,
} from "../runtime/transactions/transaction-meta.ts";

/** The encodings of getTransaction. */
export const TRANSACTION_ENCODINGS = ["json", "jsonParsed", "base64", "base58"] as const;
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

/** The accounts that were loaded when the transaction ran. */
const keysOf = (message: WireMessage, { loadedAddresses }: TransactionMeta): AccountKeys => {
  const { isSigner, isWritable } = resolveAccountKeys(message, () => undefined);
  const fixed = message.staticAccounts.length;
  return {
    all: [...message.staticAccounts, ...loadedAddresses.writable, ...loadedAddresses.readonly],
    loaded: loadedAddresses,
    isSigner,
    isWritable: (i) => (i < fixed ? isWritable(i) : i < fixed + loadedAddresses.writable.length),
  };
};

/** No program's instructions are parsed here. As nodes do then, shows program, accounts and raw data. */
const named = (keys: AccountKeys) => (instruction: InnerInstructions["instructions"][number]) => ({
  programId: keys.all[instruction.programIdIndex],
  accounts: instruction.accounts.map((index) => keys.all[index]),
  data: instruction.data,
  stackHeight: instruction.stackHeight,
});

const parsedMessage = (message: WireMessage, keys: AccountKeys) => ({
  ...jsonMessage(message),
  accountKeys: keys.all.map((pubkey, index) => ({
    pubkey,
    signer: keys.isSigner(index),
    writable: keys.isWritable(index),
    source: index < message.staticAccounts.length ? "transaction" : "lookupTable",
  })),
  instructions: compiledInstructions(message).map(named(keys)),
});

/** `transaction`, `meta` and `version` of a logged transaction, as getTransaction shows them. */
export const viewTransaction = (logged: LoggedTransaction, encoding: TransactionEncoding) => {
  const decoded = decodeSanitizedTransaction(logged.wire);
  if ("malformed" in decoded) throw new Error("the log holds a transaction that cannot be read");
  const { meta } = logged;
  const { value: transaction } = decoded;
  const { version } = transaction;
  const signatures = transaction.signatures.map(ledgerSignatureFromBytes);
  switch (encoding) {
    case "base64":
      return {
        version,
        meta,
        transaction: [Buffer.from(logged.wire).toString("base64"), encoding],
      };
    case "base58":
      return { version, meta, transaction: [encodeBase58(logged.wire), encoding] };
    case "json":
      return { version, meta, transaction: { signatures, message: jsonMessage(transaction) } };
    case "jsonParsed": {
      const keys = keysOf(transaction, meta);
      const innerInstructions = meta.innerInstructions.map(({ index, instructions }) => ({
        index,
        instructions: instructions.map(named(keys)),
      }));
      return {
        version,
        meta: { ...meta, innerInstructions },
        transaction: { signatures, message: parsedMessage(transaction, keys) },
      };
    }
  }
};
