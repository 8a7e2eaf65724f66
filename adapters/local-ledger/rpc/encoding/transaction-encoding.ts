import { base58 } from "@scure/base";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { decodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import {
  decodeSanitizedTransaction,
  decodeWireMessage,
  MAX_TRANSACTION_BYTES,
  type WireMessage,
  type WireTransaction,
} from "../../../../core/protocol/transaction/wire-transaction.ts";
import { type AccountKeys, accountKeysOf } from "../../runtime/accounts/account-keys.ts";
import type {
  InnerInstructions,
  LoggedTransaction,
} from "../../runtime/transactions/transaction-log.ts";
import {
  configOf,
  invalidParams,
  optionalNumberOf,
  type RpcConfig,
  RpcError,
  RpcErrorCode,
  textOf,
  variantOf,
} from "../rpc-params.ts";

/** The bytes of a base58 text; undefined for any other text. */
export const base58Bytes = (text: string): Uint8Array | undefined => {
  try {
    return base58.decode(text);
  } catch {
    return undefined;
  }
};

/** The bytes of a base64 text, padded or not; undefined for any other text. */
export const base64Bytes = (text: string): Uint8Array | undefined =>
  /^[A-Za-z0-9+/=]*$/.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : undefined;

/** How a transaction can be shown. `binary` is bare base58, which Agave keeps for old clients. */
const TRANSACTION_ENCODINGS = ["binary", "base64", "base58", "json", "jsonParsed"] as const;
type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number];

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

/** The longest text of a transaction of 1232 bytes (Agave `rpc.rs`: MAX_BASE58_SIZE, MAX_BASE64_SIZE). */
const MAX_TEXT = { base58: 1683, base64: 1644 } as const;

const bytesOf = (text: string, encoding: "base58" | "base64"): Uint8Array | undefined =>
  encoding === "base64" ? decodeBase64(text) : base58Bytes(text);

/** The type names in Agave's errors (`std::any::type_name`). */
const TRANSACTION = "solana_transaction::versioned::VersionedTransaction";
const MESSAGE = "solana_message::versions::VersionedMessage";

/** The bytes of a text. @throws RpcError when it is too long or not in its encoding. */
const decodedText = (text: string, encoding: "base58" | "base64", what: string): Uint8Array => {
  if (text.length > MAX_TEXT[encoding])
    throw invalidParams(
      `${encoding} encoded ${what} too large: ${text.length} bytes (max: encoded/raw ${MAX_TEXT[encoding]}/${MAX_TRANSACTION_BYTES})`,
    );
  const bytes = bytesOf(text, encoding);
  if (bytes === undefined) throw invalidParams(`invalid ${encoding} encoding`);
  if (bytes.length > MAX_TRANSACTION_BYTES)
    throw invalidParams(
      `decoded ${what} too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`,
    );
  return bytes;
};

/** The transaction a caller sent, base58 unless the configuration says base64. @throws RpcError when it is none. */
export const transactionOf = (value: unknown, config: RpcConfig): WireTransaction => {
  const text = textOf(value, "transaction");
  const encoding = variantOf(config["encoding"] ?? "base58", TRANSACTION_ENCODINGS);
  if (encoding === "json" || encoding === "jsonParsed")
    throw invalidParams(`unsupported encoding: ${encoding}. Supported encodings: base58, base64`);
  const bytes = decodedText(text, encoding === "binary" ? "base58" : encoding, TRANSACTION);
  const decoded = decodeSanitizedTransaction(bytes);
  if ("malformed" in decoded)
    throw invalidParams(`failed to deserialize ${TRANSACTION}: it ${decoded.malformed}`);
  return decoded.value;
};

/** The message a caller sent, in base64. @throws RpcError when it is none. */
export const messageOf = (value: unknown): WireMessage => {
  const decoded = decodeWireMessage(decodedText(textOf(value, "message"), "base64", MESSAGE));
  if (decoded === undefined) throw invalidParams(`failed to deserialize ${MESSAGE}`);
  return decoded;
};

/** How a caller wants transactions shown. */
type TransactionConfig = {
  readonly config: RpcConfig;
  readonly encoding: TransactionEncoding;
  /** The newest version it can read; undefined when it reads legacy transactions only. */
  readonly maxVersion: number | undefined;
};

/**
 * The configuration of getTransaction, in which a bare text is the encoding. Agave tries both forms, and its error does
 * not name the fault. @throws RpcError when it is neither.
 */
export const transactionConfigOf = (options: unknown): TransactionConfig => {
  try {
    const config = typeof options === "string" ? { encoding: options } : configOf(options);
    const encoding = variantOf(config["encoding"] ?? "json", TRANSACTION_ENCODINGS);
    const name = "maxSupportedTransactionVersion";
    return { config, encoding, maxVersion: optionalNumberOf(config[name], name, undefined, "u8") };
  } catch (cause) {
    if (!(cause instanceof RpcError)) throw cause;
    throw invalidParams(
      "Invalid params: data did not match any variant of untagged enum RpcEncodingConfigWrapper.",
    );
  }
};

/** The part of an answer that names a transaction's version. @throws RpcError when the caller cannot read it. */
export const versionFor = (version: WireMessage["version"], maxVersion: number | undefined) => {
  if (maxVersion !== undefined) return { version };
  if (version === "legacy") return {};
  throw new RpcError(
    RpcErrorCode.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );
};
