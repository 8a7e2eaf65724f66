import { Schema } from "effect";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { decodeBase64Bytes } from "../transport/base64-bytes.ts";

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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The position of a string's text, without its quotes. */
type TextSpan = { readonly start: number; readonly end: number };

const isAt = (bytes: Buffer, at: number, piece: Buffer): boolean =>
  bytes.compare(piece, 0, piece.length, at, at + piece.length) === 0;

/** The position of a text in a record; undefined unless it occurs exactly once. */
const spanOf = (record: Buffer, text: string): TextSpan | undefined => {
  const start = record.indexOf(text, 0, "latin1");
  if (start < 0 || record.includes(text, start + 1, "latin1")) return undefined;
  return { start, end: start + text.length };
};

/**
 * The bytes that records of an answer share: all but those of their data and their address. Nearly every record equals
 * the one before it there, so a comparison suffices. A record that differs is left to the JSON parser.
 */
export class RecordShape {
  /** The index after the record that was read last. */
  end = 0;
  readonly #like: LedgerAccount;
  readonly #dataFirst: boolean;
  readonly #dataTextLength: number;
  readonly #head: Buffer;
  readonly #middle: Buffer;
  readonly #tail: Buffer;

  private constructor(record: Buffer, like: LedgerAccount, data: TextSpan, pubkey: TextSpan) {
    this.#like = like;
    this.#dataFirst = data.start < pubkey.start;
    this.#dataTextLength = data.end - data.start;
    const [first, second] = this.#dataFirst ? [data, pubkey] : [pubkey, data];
    this.#head = Buffer.from(record.subarray(0, first.start));
    this.#middle = Buffer.from(record.subarray(first.end, second.start));
    this.#tail = Buffer.from(record.subarray(second.end));
  }

  /**
   * The shape of a record in which a JSON parser found this account. Undefined when it is not clear which strings are
   * the data and the address.
   */
  static of(record: Buffer, account: LedgerAccount): RecordShape | undefined {
    // Without an escape, every string is in the record unchanged.
    if (record.includes(BACKSLASH)) return undefined;
    const data = spanOf(record, encodeBase64(account.data));
    const pubkey = spanOf(record, account.address);
    if (data === undefined || pubkey === undefined) return undefined;
    return new RecordShape(record, account, data, pubkey);
  }

  /** The account of the record at `at`, undefined when it has another shape or is incomplete. */
  read(bytes: Buffer, at: number): LedgerAccount | undefined {
    const first = at + this.#head.length;
    const pubkeyAt = this.#dataFirst ? first + this.#dataTextLength + this.#middle.length : first;
    const pubkeyEnd = bytes.indexOf(QUOTE, pubkeyAt);
    if (pubkeyEnd < 0) return undefined;
    const dataAt = this.#dataFirst ? first : pubkeyEnd + this.#middle.length;
    const dataEnd = dataAt + this.#dataTextLength;
    const firstEnd = this.#dataFirst ? dataEnd : pubkeyEnd;
    const secondEnd = this.#dataFirst ? pubkeyEnd : dataEnd;
    const end = secondEnd + this.#tail.length;
    if (end > bytes.length) return undefined;
    if (!isAt(bytes, at, this.#head) || !isAt(bytes, firstEnd, this.#middle)) return undefined;
    if (!isAt(bytes, secondEnd, this.#tail)) return undefined;
    const data = decodeBase64Bytes(bytes, dataAt, dataEnd);
    // The record states the length of its data.
    if (data?.length !== this.#like.data.length) return undefined;
    const address = parseAddress(bytes.toString("latin1", pubkeyAt, pubkeyEnd));
    if (address === undefined) return undefined;
    this.end = end;
    const { owner, lamports, executable } = this.#like;
    return { address, owner, lamports, executable, data };
  }
}
