import { parseAddress } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { decodeBase64Bytes } from "../transport/base64-bytes.ts";

const QUOTE = 0x22;

/** Where the text of a string stands, without its quotes. */
export type TextSpan = { readonly start: number; readonly end: number };

/** A record of getProgramAccounts that has been read, and where it and its two long texts stand. */
export type ReadRecord = {
  readonly account: LedgerAccount;
  readonly span: TextSpan;
  readonly data: TextSpan;
  readonly pubkey: TextSpan;
};

const isAt = (bytes: Buffer, at: number, piece: Buffer): boolean =>
  bytes.compare(piece, 0, piece.length, at, at + piece.length) === 0;

/**
 * What the records of an answer have in common: all bytes but those of their data and of their address. Nearly every record has
 * the bytes of the one before it there, and needs no more than a comparison. What differs anywhere is not judged here.
 */
export class RecordShape {
  /** Behind the record that was read last. */
  end = 0;
  readonly #like: LedgerAccount;
  readonly #dataFirst: boolean;
  readonly #dataTextLength: number;
  readonly #head: Buffer;
  readonly #middle: Buffer;
  readonly #tail: Buffer;

  /** The shape of a record that stands in these bytes. */
  constructor(bytes: Buffer, { account, span, data, pubkey }: ReadRecord) {
    this.#like = account;
    this.#dataFirst = data.start < pubkey.start;
    this.#dataTextLength = data.end - data.start;
    const [first, second] = this.#dataFirst ? [data, pubkey] : [pubkey, data];
    this.#head = Buffer.from(bytes.subarray(span.start, first.start));
    this.#middle = Buffer.from(bytes.subarray(first.end, second.start));
    this.#tail = Buffer.from(bytes.subarray(second.end, span.end));
  }

  /** The account of the record that begins at `at`, undefined when it has another shape or is not whole here. */
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
    // The record says how long its data is.
    if (data?.length !== this.#like.data.length) return undefined;
    const address = parseAddress(bytes.toString("latin1", pubkeyAt, pubkeyEnd));
    if (address === undefined) return undefined;
    this.end = end;
    const { owner, lamports, executable } = this.#like;
    return { address, owner, lamports, executable, data };
  }
}
