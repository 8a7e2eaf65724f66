import type { WireMessage } from "../../../core/protocol/transaction/wire-message.ts";
import { invalidParams, RpcError, RpcErrorCode } from "./rpc-error.ts";
import { configOf, optionalNumberOf, type RpcConfig, unknownVariant } from "./rpc-params.ts";
import { TRANSACTION_ENCODINGS, type TransactionEncoding } from "./encoding/transaction-view.ts";

/** How a caller wants transactions shown. */
export type TransactionConfig = {
  readonly config: RpcConfig;
  readonly encoding: TransactionEncoding;
  /** The newest version it can read; undefined when it reads legacy transactions only. */
  readonly maxVersion: number | undefined;
};

/**
 * Applies `read` to a configuration of getTransaction, in which a bare text is the encoding. Agave tries
 * both forms, and its error does not name the fault. @throws RpcError when it is neither.
 */
export const transactionConfigOf = <T>(
  options: unknown,
  read: (asked: TransactionConfig) => T,
): T => {
  try {
    const config = typeof options === "string" ? { encoding: options } : configOf(options);
    const asked = config["encoding"] ?? "json";
    const encoding = TRANSACTION_ENCODINGS.find((known) => known === asked);
    if (encoding === undefined) throw unknownVariant(asked, TRANSACTION_ENCODINGS);
    const name = "maxSupportedTransactionVersion";
    return read({
      config,
      encoding,
      maxVersion: optionalNumberOf(config[name], name, undefined, "u8"),
    });
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
