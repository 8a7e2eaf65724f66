import { encodeBase58 } from "../../../core/domain/base58.ts";
import { type AccountKeys, resolveAccountKeys } from "../runtime/account-keys.ts";
import type { LoggedTransaction } from "../runtime/transaction-log.ts";
import type { InnerInstructions, TransactionMeta } from "../runtime/transaction-meta.ts";
import type { WireInstruction } from "../runtime/wire-message.ts";
import { decodeWireTransaction, type WireTransaction } from "../runtime/wire-transaction.ts";

/** How getTransaction can show a transaction. */
export const TRANSACTION_ENCODINGS = ["json", "jsonParsed", "base64", "base58"] as const;
/** See `TRANSACTION_ENCODINGS`. */
export type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

const compiledInstruction = ({ programIndex, accountIndexes, data }: WireInstruction) => ({
  programIdIndex: programIndex,
  accounts: accountIndexes,
  data: encodeBase58(data),
  stackHeight: 1,
});

const jsonMessage = ({ message }: WireTransaction) => ({
  header: {
    numRequiredSignatures: message.header.numSignerAccounts,
    numReadonlySignedAccounts: message.header.numReadonlySignerAccounts,
    numReadonlyUnsignedAccounts: message.header.numReadonlyNonSignerAccounts,
  },
  accountKeys: message.staticAccounts,
  recentBlockhash: message.blockhash,
  instructions: message.instructions.map(compiledInstruction),
  ...(message.version === 0
    ? {
        addressTableLookups: message.lookups.map((lookup) => ({
          accountKey: lookup.table,
          writableIndexes: lookup.writableIndexes,
          readonlyIndexes: lookup.readonlyIndexes,
        })),
      }
    : {}),
});

/** The accounts as they were loaded when the transaction ran. */
const keysOf = ({ message }: WireTransaction, meta: TransactionMeta): AccountKeys => {
  const { loadedAddresses } = meta;
  const { isSigner, isWritable } = resolveAccountKeys(message, () => undefined);
  const fixed = message.staticAccounts.length;
  return {
    all: [...message.staticAccounts, ...loadedAddresses.writable, ...loadedAddresses.readonly],
    loaded: loadedAddresses,
    isSigner,
    isWritable: (i) => (i < fixed ? isWritable(i) : i < fixed + loadedAddresses.writable.length),
  };
};

/** No program's instructions are parsed here; nodes then name program and accounts and leave the data. */
const named = (keys: AccountKeys) => (instruction: InnerInstructions["instructions"][number]) => ({
  programId: keys.all[instruction.programIdIndex],
  accounts: instruction.accounts.map((index) => keys.all[index]),
  data: instruction.data,
  stackHeight: instruction.stackHeight,
});

const parsedMessage = (transaction: WireTransaction, keys: AccountKeys) => ({
  ...jsonMessage(transaction),
  accountKeys: keys.all.map((pubkey, index) => ({
    pubkey,
    signer: keys.isSigner(index),
    writable: keys.isWritable(index),
    source: index < transaction.message.staticAccounts.length ? "transaction" : "lookupTable",
  })),
  instructions: transaction.message.instructions.map(compiledInstruction).map(named(keys)),
});

/** `transaction`, `meta` and `version` of a logged transaction as getTransaction shows them. */
export const viewTransaction = (logged: LoggedTransaction, encoding: TransactionEncoding) => {
  const transaction = decodeWireTransaction(logged.wire);
  if (transaction === undefined) throw new Error("the log holds a transaction that cannot be read");
  const { meta } = logged;
  const { signatures, message } = transaction;
  const { version } = message;
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
