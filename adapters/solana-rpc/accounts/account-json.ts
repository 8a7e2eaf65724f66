import { Schema } from "effect";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";

/** An account as a node encodes it with `encoding: "base64"` (Agave `account-decoder-client-types`, `UiAccount`). */
const AccountJson = Schema.Struct({
  lamports: Schema.Union([Schema.Natural, Schema.String]),
  owner: Schema.String,
  executable: Schema.Boolean,
  data: Schema.Tuple([Schema.String, Schema.Literal("base64")]),
  /** u64, not used here. It is 2^64-1 in most accounts, which a double holds only roughly. */
  rentEpoch: Schema.Finite,
  /** Length of the data. Nodes before Agave 1.14 omit it. */
  space: Schema.optionalKey(Schema.Natural),
});
const isAccountJson = Schema.is(AccountJson);
const isKeyed = Schema.is(Schema.Struct({ pubkey: Schema.String, account: Schema.Unknown }));

const U64_MAX = 2n ** 64n - 1n;

/** Lamports of 16 or more digits arrive as strings (rpc-envelope.ts). */
const parseLamports = (json: number | string): bigint | undefined => {
  if (typeof json === "number") return BigInt(json);
  if (!/^[1-9]\d{15,19}$/.test(json)) return undefined;
  const lamports = BigInt(json);
  return lamports <= U64_MAX ? lamports : undefined;
};

/** The account at `address` with its data cut at `mostDataBytes`; undefined unless every field of the JSON is valid. */
const parseAccount = (
  address: Address,
  json: unknown,
  mostDataBytes: number,
): LedgerAccount | undefined => {
  if (!isAccountJson(json)) return undefined;
  const lamports = parseLamports(json.lamports);
  const owner = parseAddress(json.owner);
  const sent = decodeBase64(json.data[0]);
  if (lamports === undefined || owner === undefined || sent === undefined) return undefined;
  // `space` is the length before a cut. Nodes that do not cut are supported too.
  const isCut = sent.length === mostDataBytes && (json.space ?? 0) > mostDataBytes;
  if (json.space !== undefined && json.space !== sent.length && !isCut) return undefined;
  const data = sent.length > mostDataBytes ? sent.slice(0, mostDataBytes) : sent;
  return { address, owner, lamports, executable: json.executable, data };
};

/**
 * The `value` of getMultipleAccounts for these addresses, data cut at `mostDataBytes`. Undefined unless all of it is
 * valid.
 */
export const parseAccounts = (
  addresses: ReadonlyArray<Address>,
  json: unknown,
  mostDataBytes = Number.POSITIVE_INFINITY,
): ReadonlyArray<LedgerAccount | null> | undefined => {
  if (!Array.isArray(json) || json.length !== addresses.length) return undefined;
  const accounts: Array<LedgerAccount | null> = [];
  for (const [i, address] of addresses.entries()) {
    const account = json[i] === null ? null : parseAccount(address, json[i], mostDataBytes);
    if (account === undefined) return undefined;
    accounts.push(account);
  }
  return accounts;
};

/** The `value` of getProgramAccounts. Undefined unless every row is valid. */
export const parseKeyedAccounts = (json: unknown): ReadonlyArray<LedgerAccount> | undefined => {
  if (!Array.isArray(json)) return undefined;
  const accounts: Array<LedgerAccount> = [];
  for (const row of json as ReadonlyArray<unknown>) {
    const address = isKeyed(row) ? parseAddress(row.pubkey) : undefined;
    if (address === undefined) return undefined;
    const { account: json } = row as { readonly account: unknown };
    const account = parseAccount(address, json, Number.POSITIVE_INFINITY);
    if (account === undefined) return undefined;
    accounts.push(account);
  }
  return accounts;
};
