import { type Address, addressToBytes } from "../../../../core/domain/address.ts";
import type { AccountState, DataConditions } from "../../runtime/accounts/account-store.ts";
import {
  isTokenProgram,
  tokenHolding,
  tokenMint,
  uiTokenAmount,
} from "../../runtime/accounts/token-balance.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import type { Commitment } from "../../runtime/time/slots.ts";
import {
  accountEncodingOf,
  encodeAccount,
  encodeKeyedAccountText,
  PreEncoded,
} from "../encoding/account-encoding.ts";
import { base58Bytes, base64Bytes } from "../encoding/transaction-encoding.ts";
import { readPoint } from "../rpc-context.ts";
import {
  addressOf,
  arrayOf,
  configOf,
  flagOf,
  invalidParams,
  type RpcConfig,
  type RpcMethod,
  unknownVariant,
  wholeNumberOf,
  wrongType,
} from "../rpc-params.ts";

/** Most filters of one call (Agave `rpc-client-api/src/request.rs`: MAX_GET_PROGRAM_ACCOUNT_FILTERS). */
const MAX_FILTERS = 4;
/** Most bytes one memcmp compares (Agave `filter.rs`: MAX_DATA_SIZE). */
const MAX_MEMCMP_BYTES = 128;

const memcmpBytes = (bytes: unknown, encoding: unknown): Uint8Array => {
  if (Array.isArray(bytes) && bytes.every((b) => Number.isInteger(b) && b >= 0 && b <= 255))
    return Uint8Array.from(bytes as ReadonlyArray<number>);
  if (typeof bytes !== "string")
    throw invalidParams("Invalid params: memcmp.bytes must be a string or an array of bytes");
  if (encoding !== undefined && encoding !== "base58" && encoding !== "base64")
    throw invalidParams("Invalid params: memcmp.encoding must be base58 or base64");
  // A longer text cannot decode to 128 bytes. Refusing it first bounds the work of base58.
  if (bytes.length > 2 * MAX_MEMCMP_BYTES)
    throw invalidParams("Invalid param: encoded binary data should be less than 129 bytes");
  const decoded = encoding === "base64" ? base64Bytes(bytes) : base58Bytes(bytes);
  if (decoded === undefined) throw invalidParams("Invalid param: unable to decode memcmp bytes");
  return decoded;
};

/** The conditions of a list of `dataSize` and `memcmp` filters. @throws RpcError for anything else. */
export const accountFilterOf = (filters: unknown): DataConditions => {
  if (filters === undefined || filters === null) return { bytesAt: [] };
  const list = arrayOf(filters, "filters", Number.MAX_SAFE_INTEGER);
  if (list.length > MAX_FILTERS)
    throw invalidParams(`Too many filters provided; max ${MAX_FILTERS}`);
  const sizes = new Set<number>();
  const bytesAt = list.flatMap((item) => {
    const filter = configOf(item, "filter");
    const [name, ...others] = Object.keys(filter);
    if (others.length > 0 || (name !== "dataSize" && name !== "memcmp"))
      throw invalidParams("Invalid params: a filter is dataSize or memcmp");
    if (name === "dataSize") {
      sizes.add(wholeNumberOf(filter["dataSize"], "dataSize"));
      return [];
    }
    const memcmp = configOf(filter["memcmp"], "memcmp");
    const bytes = memcmpBytes(memcmp["bytes"], memcmp["encoding"]);
    if (bytes.length > MAX_MEMCMP_BYTES)
      throw invalidParams("Invalid param: decoded binary data should be less than 129 bytes");
    return [{ offset: wholeNumberOf(memcmp["offset"], "memcmp.offset"), bytes }];
  });
  const [dataSize] = sizes;
  // Two different sizes match nothing. No account has this size.
  if (sizes.size > 1) return { dataSize: Number.MAX_SAFE_INTEGER, bytesAt };
  return { dataSize, bytesAt };
};

/** Most accounts of one getMultipleAccounts (Agave `request.rs`: MAX_MULTIPLE_ACCOUNTS). */
const MAX_MULTIPLE_ACCOUNTS = 100;

/** Rows joined at once. A list of 100,000 accounts is 70 MB of text and must not also be 100,000 strings. */
const ROWS_OF_A_PIECE = 512;

/** Reads of accounts by address and by owner. */
export const accountMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => ({
  getBalance: ([address, options]) => {
    const { commitment, context } = readPoint(ledger, configOf(options));
    const state = ledger.accounts.read(addressOf(address), commitment);
    return { context, value: state?.lamports ?? 0 };
  },

  getAccountInfo: ([address, options]) => {
    const config = configOf(options);
    const { commitment, context } = readPoint(ledger, config);
    const encoding = accountEncodingOf(ledger, config);
    const state = ledger.accounts.read(addressOf(address), commitment);
    return { context, value: state === undefined ? null : encodeAccount(state, encoding) };
  },

  getMultipleAccounts: ([addresses, options]) => {
    const config = configOf(options);
    const { commitment, context } = readPoint(ledger, config);
    const encoding = accountEncodingOf(ledger, config, "base64");
    const value = arrayOf(addresses, "pubkeys", MAX_MULTIPLE_ACCOUNTS).map((address) => {
      const state = ledger.accounts.read(addressOf(address), commitment);
      return state === undefined ? null : encodeAccount(state, encoding);
    });
    return { context, value };
  },

  getProgramAccounts: ([program, options]) => {
    const config = configOf(options);
    const { commitment, context } = readPoint(ledger, config);
    const encoding = accountEncodingOf(ledger, config);
    const conditions = accountFilterOf(config["filters"]);
    const withContext = flagOf(config["withContext"], "withContext");
    const pieces = [withContext ? `{"context":${JSON.stringify(context)},"value":[` : "["];
    const owner = addressOf(program);
    let rows: Array<string> = [];
    const flush = (): void => {
      pieces.push((pieces.length > 1 ? "," : "") + rows.join(","));
      rows = [];
    };
    for (const [address, state] of ledger.accounts.ofOwner(owner, conditions, commitment)) {
      rows.push(encodeKeyedAccountText(address, state, encoding));
      if (rows.length === ROWS_OF_A_PIECE) flush();
    }
    if (rows.length > 0) flush();
    pieces.push(withContext ? "]}" : "]");
    return new PreEncoded(pieces);
  },
});

/** Reads SPL token mints and accounts. */
export const tokenMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const mintAt = (mint: Address, commitment: Commitment) =>
    tokenMint(ledger.accounts.read(mint, commitment));

  const existing = (address: Address, commitment: Commitment): AccountState => {
    const state = ledger.accounts.read(address, commitment);
    if (state === undefined) throw invalidParams("Invalid param: could not find account");
    return state;
  };

  /** A mint's token program and decimals (Agave `parsed_token_accounts.rs`). @throws RpcError when it is none. */
  const mintOf = (mint: Address, commitment: Commitment) => {
    const state = ledger.accounts.read(mint, commitment);
    if (state === undefined) throw invalidParams("Invalid param: could not find mint");
    const mintState = tokenMint(state);
    if (mintState !== undefined) return { program: state.owner, decimals: mintState.decimals };
    throw invalidParams("Invalid param: Token mint could not be unpacked");
  };

  /** The mint to look for, or undefined for all mints of one token program. */
  const wanted = (
    filter: RpcConfig,
    commitment: Commitment,
  ): { readonly program: Address; readonly mint: Address | undefined } => {
    const names = Object.keys(filter);
    const [name] = names;
    if (names.length !== 1) throw wrongType(filter, "filter", "map with a single key");
    if (name !== "mint" && name !== "programId") throw unknownVariant(name, ["mint", "programId"]);
    if (name === "mint") {
      const mint = addressOf(filter["mint"], "mint");
      return { program: mintOf(mint, commitment).program, mint };
    }
    const program = addressOf(filter["programId"], "programId");
    if (!isTokenProgram(program))
      throw invalidParams("Invalid param: unrecognized Token program id");
    return { program, mint: undefined };
  };

  return {
    getTokenAccountBalance: ([account, options]) => {
      const { commitment, context } = readPoint(ledger, configOf(options));
      const state = existing(addressOf(account), commitment);
      const holding = tokenHolding(state);
      if (holding === undefined) throw invalidParams("Invalid param: not a Token account");
      const mint = mintAt(holding.mint, commitment);
      if (mint === undefined) throw invalidParams("Invalid param: could not find mint");
      return { context, value: uiTokenAmount(holding.amount, mint.decimals) };
    },

    getTokenSupply: ([address, options]) => {
      const { commitment, context } = readPoint(ledger, configOf(options));
      const state = existing(addressOf(address), commitment);
      if (!isTokenProgram(state.owner)) throw invalidParams("Invalid param: not a Token mint");
      const mint = tokenMint(state);
      if (mint === undefined) throw invalidParams("Invalid param: mint could not be unpacked");
      return { context, value: uiTokenAmount(mint.supply, mint.decimals) };
    },

    getTokenAccountsByOwner: ([owner, filter, options]) => {
      const config = configOf(options);
      const { commitment, context } = readPoint(ledger, config);
      const encoding = accountEncodingOf(ledger, config);
      const { program, mint } = wanted(configOf(filter, "filter"), commitment);
      const holder = { offset: 32, bytes: addressToBytes(addressOf(owner)) };
      const bytesAt =
        mint === undefined ? [holder] : [holder, { offset: 0, bytes: addressToBytes(mint) }];
      const value = [];
      for (const [pubkey, state] of ledger.accounts.ofOwner(program, { bytesAt }, commitment))
        if (tokenHolding(state) !== undefined)
          value.push({ pubkey, account: encodeAccount(state, encoding) });
      return { context, value };
    },
  };
};
