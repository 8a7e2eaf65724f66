import type { Address } from "../../../../core/domain/address.ts";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import { fieldsOf } from "../../../../core/protocol/accounts/byte-fields.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import type { AccountState } from "../../runtime/accounts/account-store.ts";
import {
  tokenHolding,
  tokenMint,
  uiTokenAmount,
  type UiTokenAmount,
} from "../../runtime/accounts/token-balance.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import {
  configOf,
  type RpcConfig,
  RpcError,
  RpcErrorCode,
  variantOf,
  wholeNumberOf,
} from "../rpc-params.ts";

/** A method's result as pieces of JSON text. */
export class PreEncoded {
  readonly pieces: ReadonlyArray<string>;

  constructor(pieces: ReadonlyArray<string>) {
    this.pieces = pieces;
  }
}

/** Account data as `jsonParsed` shows it. */
type ParsedAccount = {
  readonly program: "spl-token";
  readonly parsed: {
    readonly type: "account" | "mint";
    readonly info: Readonly<Record<string, string | number | boolean | null | UiTokenAmount>>;
  };
  readonly space: number;
};

const STATES = ["uninitialized", "initialized", "frozen"] as const;

/** SPL Token's COption of a key: a u32 LE tag, then 32 bytes that are valid only when the tag is 1. */
const optionalKey = (data: Uint8Array, at: number): Address | null => {
  const fields = fieldsOf(data);
  return fields.u32(at) === 1 ? fields.address(at + 4) : null;
};

/** Offsets as in SPL Token `state.rs`, Account: delegate 72, state 108, native 109, delegated 121, closer 129. */
const accountInfo = (data: Uint8Array, decimals: number) => {
  const fields = fieldsOf(data);
  const delegate = optionalKey(data, 72);
  const closeAuthority = optionalKey(data, 129);
  const isNative = fields.u32(109) === 1;
  return {
    mint: fields.address(0),
    owner: fields.address(32),
    tokenAmount: uiTokenAmount(fields.u64(64), decimals),
    state: STATES[fields.u8(108)] ?? "uninitialized",
    isNative,
    ...(isNative ? { rentExemptReserve: uiTokenAmount(fields.u64(113), 9) } : {}),
    ...(delegate === null
      ? {}
      : { delegate, delegatedAmount: uiTokenAmount(fields.u64(121), decimals) }),
    ...(closeAuthority === null ? {} : { closeAuthority }),
  };
};

/**
 * SPL Token accounts and mints in the form wallets read (Agave `account-decoder/src/parse_token.rs`). Undefined for
 * every other account; nodes answer with base64 then.
 */
const parsedAccount = (
  state: AccountState,
  decimalsOf: (mint: Address) => number | undefined,
): ParsedAccount | undefined => {
  if (state.owner !== TOKEN_PROGRAM) return undefined;
  const { data } = state;
  const parsed = (type: "account" | "mint", info: ParsedAccount["parsed"]["info"]) => ({
    program: "spl-token" as const,
    parsed: { type, info },
    space: data.length,
  });
  const mint = tokenMint(state);
  if (mint !== undefined)
    return parsed("mint", {
      mintAuthority: optionalKey(data, 0),
      supply: mint.supply.toString(),
      decimals: mint.decimals,
      isInitialized: true,
      freezeAuthority: optionalKey(data, 46),
    });
  const holding = tokenHolding(state);
  const decimals = holding === undefined ? undefined : decimalsOf(holding.mint);
  return decimals === undefined ? undefined : parsed("account", accountInfo(data, decimals));
};

/** The longest data that base58 is used for (Agave `rpc.rs`: MAX_BASE58_BYTES). */
const MAX_BASE58_BYTES = 128;

/** In the order of Agave's error text (`account-decoder-client-types`: UiAccountEncoding). */
const ENCODINGS = ["binary", "base58", "base64", "jsonParsed", "base64+zstd"] as const;

/** How account data is encoded. `binary`, the default, is a bare base58 text. */
type AccountEncoding = {
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
  const encoding = variantOf(config["encoding"] ?? absent, ENCODINGS);
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

const encodedData = (state: AccountState, options: AccountEncoding) => {
  const data = sliced(state.data, options);
  switch (options.encoding) {
    case "binary":
      return base58(data);
    case "base58":
      return [base58(data), "base58"];
    case "base64+zstd":
      return [base64(Bun.zstdCompressSync(data)), "base64+zstd"];
    case "jsonParsed":
      return parsedAccount(state, options.decimalsOf) ?? [base64(data), "base64"];
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
