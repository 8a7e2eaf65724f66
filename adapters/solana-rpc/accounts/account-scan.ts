import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { parseKeyedAccounts, RecordShape } from "./account-json.ts";
import {
  type Envelope,
  HeldBytes,
  isValueAtSlot,
  parseEnvelope,
  parseJson,
  utf8,
} from "../transport/rpc-envelope.ts";
import { ObjectEnd } from "./scan-body.ts";

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;

/**
 * The longest record that is read, in bytes. Accounts of the known kinds take less than a thousand, so a longer record
 * was not asked for. Anyone can make accounts of 10 MiB that a program owns.
 */
export const LONGEST_RECORD = 64 * 1024;

/** When the list of accounts does not begin within this many bytes, the whole envelope is read. */
const LONGEST_HEAD = 4096;

/** A faulty answer, as a kind of `NodeFault`. */
export type ScanFault = Extract<Envelope, string>;

/** The result of a whole answer, without its accounts. */
export type ScanEnd =
  | {
      readonly slot: number;
      /** The cursor of the page after this one, null after the last; absent when the answer has no pages. */
      readonly next?: string | null;
    }
  | Extract<Envelope, { readonly error: unknown }>;

/**
 * The two forms of the answer's `value`: the list of getProgramAccounts, and the page of getProgramAccountsV2, an
 * object of `accounts` and `paginationKey`. For the page see the providers' references of that method (Helius,
 * Alchemy); Agave does not have it.
 */
export type ScanForm = "list" | "page";

/** A page's cursor is an address or another short text. */
const LONGEST_CURSOR = 1024;

/** The list of accounts in a `value` and the cursor after it, undefined when the value has not this form. */
const listOf = (
  value: unknown,
  form: ScanForm,
): { readonly accounts: ReadonlyArray<unknown>; readonly next?: string | null } | undefined => {
  if (form === "list") return Array.isArray(value) ? { accounts: value } : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  const { accounts, paginationKey = null } = value as Readonly<Record<string, unknown>>;
  const isCursor = paginationKey === null || typeof paginationKey === "string";
  if (!Array.isArray(accounts) || !isCursor) return undefined;
  if (paginationKey !== null && paginationKey.length > LONGEST_CURSOR) return undefined;
  return { accounts, next: paginationKey === "" ? null : paginationKey };
};

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * Reads the answer of getProgramAccounts or getProgramAccountsV2 as it arrives. It holds no more than one network chunk
 * and one record, and skips a record longer than `LONGEST_RECORD`. The bytes before and after the accounts form an
 * answer without accounts, which is checked like any other. An answer that is no list of accounts, or whose slot comes
 * after them, is held and parsed whole.
 */
export class AccountScan {
  /** The slot of the accounts taken so far, null before the first. */
  slot: number | null = null;
  /** The number of skipped records, and their bytes. */
  readonly passedOver = { records: 0, bytes: 0 };
  readonly #id: number;
  readonly #form: ScanForm;
  /**
   * The shapes of the latest records, the last one first. An account's rent or a gift of lamports makes a second shape.
   */
  #shape: RecordShape | undefined;
  #otherShape: RecordShape | undefined;
  #accounts: Array<LedgerAccount> = [];
  #stage: "head" | "first" | "next" | "value" | "tail" | "whole" = "head";
  /** The search for the end of a record that is being skipped, null when none is. */
  #passing: ObjectEnd | null = null;
  #head = "";
  readonly #held = new HeldBytes();
  #enough = 1;

  /** `id` is the id of the request. */
  constructor(id: number, form: ScanForm = "list") {
    this.#id = id;
    this.#form = form;
  }

  /** Bytes that wait for the rest of their record. */
  get heldBytes(): number {
    return this.#held.length;
  }

  /** Accounts that are ready to be taken. */
  get waiting(): number {
    return this.#accounts.length;
  }

  /** Takes up to `count` of the ready accounts. */
  take(count: number): ReadonlyArray<LedgerAccount> {
    return this.#accounts.splice(0, count);
  }

  /** Reads the next bytes of the body. Returns a fault, undefined when there is none. */
  push(chunk: Uint8Array): ScanFault | undefined {
    const rest = this.#passing === null ? chunk : this.#pass(this.#passing, chunk);
    if (rest === null) return undefined;
    this.#held.add(rest);
    return this.#stage === "whole" || this.#held.length < this.#enough
      ? undefined
      : this.#advance();
  }

  /** Reads the end of the body. */
  end(): ScanEnd | ScanFault {
    const fault = this.#stage === "whole" ? undefined : this.#advance();
    if (fault !== undefined) return fault;
    if (this.#passing !== null) return "not_json";
    const rest = utf8(this.#held.bytes);
    if (rest === undefined) return "not_json";
    const isStream = this.#stage === "tail";
    const read = this.slot;
    if (!isStream && read !== null) return "not_json";
    const envelope = parseEnvelope(this.#head + rest, this.#id);
    if (typeof envelope === "string" || "error" in envelope) return envelope;
    if (!isValueAtSlot(envelope.result)) return "malformed";
    const { context, value } = envelope.result;
    const { accounts: records, ...cursor } = listOf(value, this.#form) ?? {};
    const accounts = records === undefined ? undefined : parseKeyedAccounts(records);
    if (accounts === undefined) return "malformed";
    // A repeated member would have replaced what has been read.
    if (isStream && (context.slot !== read || accounts.length > 0)) return "malformed";
    if (!isStream) this.#accounts = [...accounts];
    this.slot = context.slot;
    return { slot: context.slot, ...cursor };
  }

  /**
   * Drops the first `count` bytes. An unfinished record is read again when its held bytes have doubled, or when it is
   * too long.
   */
  #done(count: number): void {
    this.#held.drop(count);
    this.#enough =
      this.#stage === "tail"
        ? Number.POSITIVE_INFINITY
        : Math.min(this.#held.length * 2, LONGEST_RECORD + 1);
  }

  /**
   * Skips the rest of a record that began before this chunk. Returns the bytes after it, null when the record
   * continues.
   */
  #pass(passing: ObjectEnd, chunk: Uint8Array): Uint8Array | null {
    const end = passing.find(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), 0);
    this.passedOver.bytes += end < 0 ? chunk.length : end;
    if (end < 0) return null;
    this.#passing = null;
    return chunk.subarray(end);
  }

  #advance(): ScanFault | undefined {
    const { bytes } = this.#held;
    const at = this.#stage === "head" ? this.#readHead(bytes) : 0;
    return this.#readRecords(bytes, at);
  }

  #readHead(bytes: Buffer): number {
    const bracket = bytes.indexOf(OPEN_BRACKET);
    if (bracket < 0 || bracket >= LONGEST_HEAD) {
      if (bytes.length >= LONGEST_HEAD) this.#stage = "whole";
      return 0;
    }
    const head = utf8(bytes.subarray(0, bracket + 1));
    const end = this.#form === "list" ? "]}}" : "]}}}";
    const answer = parseJson(`${head}${end}`) as { readonly result?: unknown } | null | undefined;
    if (
      head === undefined ||
      !isValueAtSlot(answer?.result) ||
      listOf(answer.result.value, this.#form) === undefined
    ) {
      this.#stage = "whole";
      return 0;
    }
    this.slot = answer.result.context.slot;
    this.#head = head;
    this.#stage = "first";
    return bracket + 1;
  }

  #readRecords(bytes: Buffer, from: number): ScanFault | undefined {
    let at = from;
    while (this.#stage === "first" || this.#stage === "next" || this.#stage === "value") {
      while (isSpace(bytes[at])) at++;
      const byte = bytes[at];
      if (byte === undefined) break;
      if (byte === CLOSE_BRACKET && this.#stage !== "value") this.#stage = "tail";
      else if (byte === COMMA && this.#stage === "next") {
        this.#stage = "value";
        at++;
      } else if (byte === OPEN_BRACE && this.#stage !== "next") {
        const end = this.#readRecord(bytes, at);
        if (typeof end === "string") return end;
        if (end < 0) break;
        at = end;
        this.#stage = "next";
      } else return "malformed";
    }
    this.#done(at);
    return undefined;
  }

  /** The account of a record that has one of the latest shapes. That shape becomes `#shape`. */
  #readAlike(bytes: Buffer, at: number): LedgerAccount | undefined {
    const account = this.#shape?.read(bytes, at);
    if (account !== undefined) return account;
    const other = this.#otherShape?.read(bytes, at);
    if (other !== undefined) [this.#shape, this.#otherShape] = [this.#otherShape, this.#shape];
    return other;
  }

  /**
   * Reads the record at `at` and returns the index after it. Returns -1 when the record is incomplete and not yet too
   * long.
   */
  #readRecord(bytes: Buffer, at: number): number | ScanFault {
    const alike = this.#readAlike(bytes, at);
    const alikeEnd = this.#shape?.end ?? at;
    if (alike !== undefined && alikeEnd - at <= LONGEST_RECORD) {
      this.#accounts.push(alike);
      return alikeEnd;
    }
    const place = new ObjectEnd();
    const endIndex = place.find(bytes, at);
    const end = endIndex < 0 ? bytes.length : endIndex;
    if (end - at > LONGEST_RECORD) {
      this.passedOver.records += 1;
      this.passedOver.bytes += end - at;
      if (endIndex < 0) this.#passing = place;
      return end;
    }
    if (endIndex < 0) return -1;
    const record = bytes.subarray(at, end);
    const [account] = parseKeyedAccounts([parseJson(utf8(record) ?? "")]) ?? [];
    if (account === undefined) return "malformed";
    this.#accounts.push(account);
    const shape = RecordShape.of(record, account);
    if (shape !== undefined) [this.#shape, this.#otherShape] = [shape, this.#shape];
    return end;
  }
}
