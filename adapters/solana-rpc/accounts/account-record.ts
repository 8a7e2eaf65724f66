import { type Address, parseAddress } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { decodeBase64Bytes } from "../transport/base64-bytes.ts";
import { RecordShape, type TextSpan } from "./record-shape.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/**
 * Bytes of the longest record that is read. That of an account of a known kind has less than a thousand: in a longer
 * one a node lists what it was not asked for. Strangers can make accounts of 10 MiB that a program owns.
 */
export const LONGEST_RECORD = 64 * 1024;

const U64_MAX = 2n ** 64n - 1n;
/** A number of so many digits is exact in a double. */
const EXACT_DIGITS = 15;

/** Marks of what has been read; a record is whole with all but `SPACE`. */
const PUBKEY = 1;
const ACCOUNT = 2;
const DATA = 4;
const EXECUTABLE = 8;
const LAMPORTS = 16;
const OWNER = 32;
const RENT_EPOCH = 64;
const SPACE = 128;
const WHOLE = PUBKEY | ACCOUNT | DATA | EXECUTABLE | LAMPORTS | OWNER | RENT_EPOCH;
const INNER = DATA | EXECUTABLE | LAMPORTS | OWNER | RENT_EPOCH | SPACE;

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const KEYS: ReadonlyArray<readonly [Uint8Array, number]> = [
  [bytesOf("pubkey"), PUBKEY],
  [bytesOf("account"), ACCOUNT],
  [bytesOf("data"), DATA],
  [bytesOf("executable"), EXECUTABLE],
  [bytesOf("lamports"), LAMPORTS],
  [bytesOf("owner"), OWNER],
  [bytesOf("rentEpoch"), RENT_EPOCH],
  [bytesOf("space"), SPACE],
];
const TRUE = bytesOf("true");
const FALSE = bytesOf("false");
const BASE64 = bytesOf('"base64"');

const NOWHERE: TextSpan = { start: 0, end: 0 };

const matches = (bytes: Buffer, at: number, word: Uint8Array): boolean => {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
};

const keyAt = (bytes: Buffer, start: number, end: number): number => {
  for (const [word, mark] of KEYS)
    if (word.length === end - start && matches(bytes, start, word)) return mark;
  return 0;
};

/**
 * Reads the records of getProgramAccounts one by one, `{"account": {...}, "pubkey": "..."}`, straight from the bytes of
 * the answer, with their members in any order. It takes only what JSON.parse and the checks of
 * account-json.ts would take, and gives up on whatever is unusual (a member it does not know, an escape,
 * a number with a fraction, a record not whole in these bytes), which is then theirs to judge, and on data too long
 * for any record.
 */
export class AccountRecord {
  /** Behind the record that was read last. */
  end = 0;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #pubkey: TextSpan = NOWHERE;
  #owner = "";
  #lamports = 0n;
  #executable = false;
  #data: Uint8Array | undefined;
  #dataText: TextSpan = NOWHERE;
  #space = 0;
  #shape: RecordShape | undefined;
  // Nearly every record of an answer has the same owner.
  #knownOwner: Address | undefined;

  /** The account in the record that begins at `at` with its brace, undefined when that takes a real parser. */
  read(bytes: Buffer, at: number): LedgerAccount | undefined {
    const alike = this.#shape?.read(bytes, at);
    if (alike !== undefined) {
      this.end = this.#shape?.end ?? at;
      return alike;
    }
    this.#bytes = bytes;
    this.#at = at;
    if (this.#members(0) !== WHOLE) return undefined;
    const address = parseAddress(this.#text(this.#pubkey));
    if (this.#owner !== this.#knownOwner) this.#knownOwner = parseAddress(this.#owner);
    const owner = this.#knownOwner;
    const data = this.#data;
    if (address === undefined || owner === undefined || data === undefined) return undefined;
    this.end = this.#at;
    const account = {
      address,
      owner,
      lamports: this.#lamports,
      executable: this.#executable,
      data,
    };
    const places = {
      span: { start: at, end: this.end },
      data: this.#dataText,
      pubkey: this.#pubkey,
    };
    this.#shape = new RecordShape(bytes, { account, ...places });
    return account;
  }

  #text({ start, end }: TextSpan): string {
    return this.#bytes.toString("latin1", start, end);
  }

  /** Reads an object's members; gives what was found of a record in them, -1 for anything unusual. */
  #members(allowed: number): number {
    const inner = allowed === INNER;
    let found = 0;
    if (!this.#take(OPEN_BRACE)) return -1;
    do {
      const key = this.#string();
      if (key < 0) return -1;
      const mark = keyAt(this.#bytes, key, this.#at - 1);
      if (mark === 0 || inner !== ((mark & INNER) !== 0)) return -1;
      // Of a member that comes twice the last one counts, in JSON.parse; not worth the trouble here.
      if ((found & mark) !== 0) return -1;
      if (!this.#take(COLON)) return -1;
      const value = this.#value(mark);
      if (value < 0) return -1;
      found |= mark | value;
    } while (this.#take(COMMA));
    if (!this.#take(CLOSE_BRACE)) return -1;
    if (!inner) return found;
    if ((found & SPACE) !== 0 && this.#space !== this.#data?.length) return -1;
    return found & ~SPACE;
  }

  #value(mark: number): number {
    switch (mark) {
      case ACCOUNT:
        return this.#members(INNER);
      case PUBKEY: {
        const start = this.#string();
        if (start < 0) return -1;
        this.#pubkey = { start, end: this.#at - 1 };
        return 0;
      }
      case OWNER: {
        const start = this.#string();
        if (start < 0) return -1;
        this.#owner = this.#text({ start, end: this.#at - 1 });
        return 0;
      }
      case DATA:
        return this.#encodedData();
      case EXECUTABLE:
        return this.#boolean();
      case LAMPORTS: {
        const lamports = this.#natural();
        if (lamports === undefined) return -1;
        this.#lamports = BigInt(lamports);
        return this.#lamports <= U64_MAX ? 0 : -1;
      }
      case SPACE: {
        const space = this.#natural();
        if (typeof space !== "number") return -1;
        this.#space = space;
        return 0;
      }
      default:
        return this.#natural() === undefined ? -1 : 0;
    }
  }

  /** `["<base64>","base64"]`. */
  #encodedData(): number {
    if (!this.#take(OPEN_BRACKET) || !this.#take(QUOTE)) return -1;
    const start = this.#at;
    const end = this.#bytes.indexOf(QUOTE, start);
    if (end < 0 || end - start > LONGEST_RECORD) return -1;
    this.#data = decodeBase64Bytes(this.#bytes, start, end);
    this.#dataText = { start, end };
    this.#at = end + 1;
    if (this.#data === undefined || !this.#take(COMMA)) return -1;
    this.#skipSpace();
    if (!matches(this.#bytes, this.#at, BASE64)) return -1;
    this.#at += BASE64.length;
    return this.#take(CLOSE_BRACKET) ? 0 : -1;
  }

  #boolean(): number {
    this.#skipSpace();
    this.#executable = matches(this.#bytes, this.#at, TRUE);
    if (!this.#executable && !matches(this.#bytes, this.#at, FALSE)) return -1;
    this.#at += this.#executable ? TRUE.length : FALSE.length;
    return 0;
  }

  /** A whole number without a sign; as text when a double could not hold it exactly. */
  #natural(): number | string | undefined {
    this.#skipSpace();
    const start = this.#at;
    let value = 0;
    let byte = this.#bytes[this.#at] ?? 0;
    while (byte >= 0x30 && byte <= 0x39) {
      value = value * 10 + (byte - 0x30);
      byte = this.#bytes[++this.#at] ?? 0;
    }
    const digits = this.#at - start;
    if (digits === 0 || (digits > 1 && this.#bytes[start] === 0x30)) return undefined;
    // The number goes on, as a fraction or with an exponent.
    if (byte === 0x2e || byte === 0x65 || byte === 0x45) return undefined;
    return digits <= EXACT_DIGITS ? value : this.#bytes.toString("latin1", start, this.#at);
  }

  /** Passes over a string of plain ASCII without escapes and gives where its text begins, -1 otherwise. */
  #string(): number {
    if (!this.#take(QUOTE)) return -1;
    const start = this.#at;
    for (;;) {
      const byte = this.#bytes[this.#at++] ?? 0;
      if (byte === QUOTE) return start;
      if (byte < 0x20 || byte === BACKSLASH || byte > 0x7e) return -1;
    }
  }

  #take(byte: number): boolean {
    this.#skipSpace();
    if (this.#bytes[this.#at] !== byte) return false;
    this.#at += 1;
    return true;
  }

  #skipSpace(): void {
    let byte = this.#bytes[this.#at];
    while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      byte = this.#bytes[++this.#at];
    }
  }
}
