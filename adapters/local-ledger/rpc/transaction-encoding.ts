import { getBase58Encoder } from "@solana/kit";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  decodeSanitizedTransaction,
  MAX_TRANSACTION_BYTES,
  type WireTransaction,
} from "../../../core/protocol/transaction/wire-transaction.ts";
import { invalidParams } from "./rpc-error.ts";
import { type RpcConfig, textOf, unknownVariant } from "./rpc-params.ts";
import { TRANSACTION_ENCODINGS } from "./transaction-view.ts";

/** The longest text of a transaction of 1232 bytes (Agave `rpc.rs`: MAX_BASE58_SIZE, MAX_BASE64_SIZE). */
const MAX_TEXT = { base58: 1683, base64: 1644 } as const;

const bytesOf = (text: string, encoding: "base58" | "base64"): Uint8Array | undefined => {
  if (encoding === "base64") return decodeBase64(text);
  try {
    return new Uint8Array(getBase58Encoder().encode(text));
  } catch {
    return undefined;
  }
};

/**
 * The transaction a caller sent, in base58 unless the configuration says base64. @throws RpcError for an invalid one.
 */
export const transactionOf = (value: unknown, config: RpcConfig): WireTransaction => {
  const text = textOf(value, "transaction");
  const asked = config["encoding"] ?? "base58";
  const known = TRANSACTION_ENCODINGS.find((name) => name === asked);
  if (known === undefined) throw unknownVariant(asked, TRANSACTION_ENCODINGS);
  if (known === "json" || known === "jsonParsed")
    throw invalidParams(`unsupported encoding: ${known}. Supported encodings: base58, base64`);
  const encoding = known === "binary" ? "base58" : known;
  if (text.length > MAX_TEXT[encoding])
    throw invalidParams(
      `${encoding} encoded transaction too large: ${text.length} characters (max: encoded/raw ${MAX_TEXT[encoding]}/${MAX_TRANSACTION_BYTES})`,
    );
  const bytes = bytesOf(text, encoding);
  if (bytes === undefined) throw invalidParams(`invalid ${encoding} encoding`);
  const decoded = decodeSanitizedTransaction(bytes);
  if (bytes.length > MAX_TRANSACTION_BYTES || "malformed" in decoded)
    throw invalidParams("failed to deserialize a legacy or version 0 transaction");
  return decoded.value;
};
