import type { Address } from "../../../../core/domain/address.ts";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import type { AccountState } from "../../runtime/accounts/account-state.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import { tokenMint } from "../../runtime/accounts/token-balance.ts";
import { parsedAccount } from "./parsed-account.ts";
import { RpcError, RpcErrorCode } from "../rpc-error.ts";
import { configOf, type RpcConfig, unknownVariant, wholeNumberOf } from "../rpc-params.ts";

/** The longest data that base58 is used for (Agave `rpc.rs`: MAX_BASE58_BYTES). */
const MAX_BASE58_BYTES = 128;

/** In the order of Agave's error text (`account-decoder-client-types`: UiAccountEncoding). */
const ENCODINGS = ["binary", "base58", "base64", "jsonParsed", "base64+zstd"] as const;

/** How account data is encoded. `binary`, the default, is a bare base58 text. */
export type AccountEncoding = {
  readonly encoding: (typeof ENCODINGS)[number];
  readonly slice: { readonly offset: number; readonly length: number } | undefined;
  readonly decimalsOf: (mint: Address) => number | undefined;
};

/** The encoding a configuration asks for. @throws RpcError for an unknown one. */
export const accountEncodingOf = (
  ledger: LocalLedger,
  config: RpcConfig,
  absent: AccountEncoding["encoding"] = "binary",
): AccountEncoding => {
  const asked = config["encoding"] ?? absent;
  const encoding = ENCODINGS.find((known) => known === asked);
  if (encoding === undefined) throw unknownVariant(asked, ENCODINGS);
  // A mint's decimals never change, so the newest state answers for every commitment.
  const decimalsOf = (mint: Address) =>
    tokenMint(ledger.accounts.read(mint, "processed"))?.decimals;
  if (config["dataSlice"] === undefined || config["dataSlice"] === null)
    return { encoding, slice: undefined, decimalsOf };
  const slice = configOf(config["dataSlice"], "dataSlice");
  return {
    encoding,
    slice: {
      offset: wholeNumberOf(slice["offset"], "dataSlice.offset", "usize"),
      length: wholeNumberOf(slice["length"], "dataSlice.length", "usize"),
    },
    decimalsOf,
  };
};

const sliced = (data: Uint8Array, { slice }: AccountEncoding): Uint8Array =>
  slice === undefined ? data : data.subarray(slice.offset, slice.offset + slice.length);

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

const base58 = (bytes: Uint8Array): string => {
  if (bytes.length > MAX_BASE58_BYTES)
    throw new RpcError(
      RpcErrorCode.invalidRequest,
      `Encoded binary (base 58) data should be less than ${MAX_BASE58_BYTES} bytes, please use Base64 encoding.`,
    );
  return encodeBase58(bytes);
};

const encodedData = (state: AccountState, asked: AccountEncoding) => {
  const data = sliced(state.data, asked);
  switch (asked.encoding) {
    case "binary":
      return base58(data);
    case "base58":
      return [base58(data), "base58"];
    case "base64+zstd":
      return [base64(Bun.zstdCompressSync(data)), "base64+zstd"];
    case "jsonParsed":
      return parsedAccount(state, asked.decimalsOf) ?? [base64(data), "base64"];
    case "base64":
      return [base64(data), "base64"];
  }
};

/** An account as RPC answers show it. @throws RpcError when base58 is asked for more than 128 bytes. */
export const encodeAccount = (state: AccountState, encoding: AccountEncoding) => ({
  data: encodedData(state, encoding),
  executable: state.executable,
  lamports: state.lamports,
  owner: state.owner,
  rentEpoch: state.rentEpoch,
  space: state.data.length,
});

/** The JSON text of `{pubkey, account}`. Built directly, because lists can have 100,000 accounts. */
export const encodeKeyedAccountText = (
  address: Address,
  state: AccountState,
  encoding: AccountEncoding,
): string =>
  `{"pubkey":"${address}","account":{"data":${JSON.stringify(encodedData(state, encoding))},"executable":${state.executable},"lamports":${state.lamports},"owner":"${state.owner}","rentEpoch":${state.rentEpoch},"space":${state.data.length}}}`;
