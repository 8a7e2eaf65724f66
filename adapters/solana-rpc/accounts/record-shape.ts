import { parseAddress } from "../../../core/domain/address.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { decodeBase64Bytes } from "../transport/base64-bytes.ts";

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
