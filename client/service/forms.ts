import { parseAddress } from "../../core/domain/address.ts";
import { parseAmount } from "../../core/domain/amount.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import { parseLedgerSignature } from "../../core/domain/ledger/signature.ts";
import { parseUnixTime } from "../../core/domain/unix-time.ts";
import { SettlementError } from "../settlement-error.ts";

/** The form of a value that a service gave. */
export type Form<T = unknown> = {
  /** What it must be, as the end of a sentence. */
  readonly words: string;
  /** Its type in JSON Schema. */
  readonly type: "string" | "integer" | "boolean" | "array";
  readonly fits: (value: unknown) => value is T;
};

const text = (words: string, isFormed: (value: string) => boolean): Form<string> => ({
  words,
  type: "string",
  fits: (value): value is string => typeof value === "string" && isFormed(value),
});

/** A text that anybody may have chosen, of at most `most` characters. */
export const textOf = (most: number): Form<string> =>
  text(`a text of at most ${most} characters`, (value) => value.length <= most);

/** The forms that values of the contract have. */
export const FORMS = {
  address: text("an address: base58 of 32 bytes", (value) => parseAddress(value) !== undefined),
  signature: text(
    "a transaction's signature: base58 of 64 bytes",
    (value) => parseLedgerSignature(value) !== undefined,
  ),
  hash: text("64 hex digits", (value) => parseHash32(value) !== undefined),
  /** RFC 3339 in UTC, to the second or the millisecond. */
  time: text("a time", (value) => parseUnixTime(value.replace(/\.[0-9]{3}Z$/, "Z")) !== undefined),
  /** From 0 to 2^64-1, decimal. */
  units: text("base units", (value) => value === "0" || parseAmount(value) !== undefined),
  /** One of the contract's words, such as a state or a code. It has no spaces, so it cannot hold a sentence. */
  word: text("a word", (value) => /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(value)),
  /** The cursor of a list. */
  cursor: text("a cursor", (value) => /^[A-Za-z0-9_-]{1,512}$/.test(value)),
  /** At most the bytes of a transaction. */
  base64: text("base64", (value) => /^[A-Za-z0-9+/]{0,1644}={0,2}$/.test(value)),
  /** From 0. */
  count: {
    words: "a whole number",
    type: "integer",
    fits: (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0,
  },
  list: {
    words: "a list",
    type: "array",
    fits: (value): value is Array<unknown> => Array.isArray(value),
  },
} as const satisfies Readonly<Record<string, Form>>;

const { address, base64, count, hash, list, signature, time, units, word } = FORMS;

/** The forms of the members that the client reads, by their names. */
export const MEMBER_FORMS = {
  agent_owner: address,
  amount_stroops: units,
  attested_at: time,
  attestor: address,
  base64,
  closes_at: time,
  commitment: word,
  created_at: time,
  created_seq: units,
  deliveries: count,
  escrow_pda: address,
  expires_at: time,
  ledger_time: time,
  left_stroops: units,
  merchant: address,
  message: textOf(1_000),
  mint: address,
  name: textOf(64),
  next_actions: list,
  partial_deliveries: count,
  previous_attestor: address,
  proof_hash: hash,
  refunded_stroops: units,
  released_stroops: units,
  rent_payer: address,
  revoked_seq: units,
  session_key: address,
  settled_at: time,
  settled_by: word,
  settlement_mint: address,
  signature,
  state: word,
  status: word,
  symbol: textOf(16),
  task_hash: hash,
  volume_stroops: units,
} as const satisfies Readonly<Record<string, Form>>;

/**
 * The failure when a service's answer differs from its contract. `path` and `form` are the client's own
 * words.
 */
export const departure = (path: string, form: string): SettlementError =>
  new SettlementError(
    "unexpected_answer",
    `The service's answer departs from its contract: ${path} must be ${form}.`,
    "Believe nothing of it. Check the service's address and version, or ask another service.",
  );

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/**
 * Requires the form of each member that the client reads of an answer's `data`, its transaction and its program error,
 * and of the answer's `context`. Null and a member that is left out stand for nothing. @throws SettlementError
 * `unexpected_answer`
 */
export const requireForms = (answer: unknown): void => {
  const forms: Readonly<Record<string, Form>> = MEMBER_FORMS;
  const { data, context } = membersOf(answer);
  const { transaction, program_error: programError } = membersOf(data);
  for (const part of [data, transaction, programError, context])
    for (const [name, value] of Object.entries(membersOf(part))) {
      const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
      if (value !== null && form?.fits(value) === false)
        throw departure(name, "null or of its own form");
    }
};
