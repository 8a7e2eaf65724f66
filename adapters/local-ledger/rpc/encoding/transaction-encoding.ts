import { decodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import {
  decodeWireMessage,
  type WireMessage,
} from "../../../../core/protocol/transaction/wire-message.ts";
import {
  decodeSanitizedTransaction,
  MAX_TRANSACTION_BYTES,
  type WireTransaction,
} from "../../../../core/protocol/transaction/wire-transaction.ts";
import { base58Bytes } from "./encoded-bytes.ts";
import { invalidParams } from "../rpc-error.ts";
import { type RpcConfig, textOf, unknownVariant } from "../rpc-params.ts";
import { TRANSACTION_ENCODINGS } from "./transaction-view.ts";

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
  const asked = config["encoding"] ?? "base58";
  const known = TRANSACTION_ENCODINGS.find((name) => name === asked);
  if (known === undefined) throw unknownVariant(asked, TRANSACTION_ENCODINGS);
  if (known === "json" || known === "jsonParsed")
    throw invalidParams(`unsupported encoding: ${known}. Supported encodings: base58, base64`);
  const bytes = decodedText(text, known === "binary" ? "base58" : known, TRANSACTION);
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
