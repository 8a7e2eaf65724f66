import { parseAddress } from "../../core/domain/address.ts";
import { parseAmount } from "../../core/domain/amount.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import { parseLedgerSignature } from "../../core/domain/ledger/signature.ts";
import { parseUnixTime } from "../../core/domain/unix-time.ts";
import { SettlementError } from "../settlement-error.ts";

/** Whether a value that a service gave has the form that its contract says. */
export type Form = (value: unknown) => boolean;

const text =
  (isFormed: (value: string) => boolean): Form =>
  (value) =>
    typeof value === "string" && isFormed(value);

/** An account's address. */
export const isAddress = text((value) => parseAddress(value) !== undefined);
/** A transaction's signature. */
export const isSignature = text((value) => parseLedgerSignature(value) !== undefined);
/** A hash, 64 hex digits. */
export const isHash = text((value) => parseHash32(value) !== undefined);
/** A time of RFC 3339 in UTC, to the second or the millisecond. */
export const isTime = text(
  (value) => parseUnixTime(value.replace(/\.[0-9]{3}Z$/, "Z")) !== undefined,
);
/** Base units from 0 to 2^64-1, decimal. */
export const isUnits = text((value) => value === "0" || parseAmount(value) !== undefined);
/** One of the contract's words, such as a state or a code: no sentence can be written with it. */
export const isWord = text((value) => /^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(value));
/** What continues a list. */
export const isCursor = text((value) => /^[A-Za-z0-9_-]{1,512}$/.test(value));
/** Bytes in base64, at most those of a transaction. */
export const isBase64 = text((value) => /^[A-Za-z0-9+/]{0,1644}={0,2}$/.test(value));
/** A text that anybody may have chosen, of at most `most` characters. */
export const isTextOf = (most: number): Form => text((value) => value.length <= most);
/** A whole number from 0. */
export const isCount: Form = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isList: Form = Array.isArray;

/** The forms of the members that the client reads, by their names. */
export const MEMBER_FORMS: Readonly<Record<string, Form>> = {
  agent_owner: isAddress,
  amount_stroops: isUnits,
  attested_at: isTime,
  attestor: isAddress,
  base64: isBase64,
  commitment: isWord,
  created_at: isTime,
  created_seq: isUnits,
  deliveries: isCount,
  escrow_pda: isAddress,
  expires_at: isTime,
  ledger_time: isTime,
  merchant: isAddress,
  message: isTextOf(1_000),
  mint: isAddress,
  name: isTextOf(64),
  next_actions: isList,
  partial_deliveries: isCount,
  previous_attestor: isAddress,
  proof_hash: isHash,
  refunded_stroops: isUnits,
  released_stroops: isUnits,
  rent_payer: isAddress,
  revoked_seq: isUnits,
  settled_at: isTime,
  settlement_mint: isAddress,
  signature: isSignature,
  state: isWord,
  status: isWord,
  symbol: isTextOf(16),
  task_hash: isHash,
  volume_stroops: isUnits,
};

/** The failure of a service that answers something else than its contract says. `path` and `form` are the client's own words. */
export const departure = (path: string, form: string): SettlementError =>
  new SettlementError(
    "unexpected_answer",
    `The service's answer departs from its contract: ${path} must be ${form}.`,
    "Believe nothing of it. Check the service's address and version, or ask another service.",
  );

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/**
 * Requires the form of each member that the client reads of an answer's `data`, its transaction and its program error, and of the answer's `context`. Null and a member that is left
 * out stand for nothing. @throws SettlementError `unexpected_answer`
 */
export const requireForms = (answer: unknown): void => {
  const { data, context } = membersOf(answer);
  const { transaction, program_error: programError } = membersOf(data);
  for (const part of [data, transaction, programError, context])
    for (const [name, value] of Object.entries(membersOf(part))) {
      const form = Object.hasOwn(MEMBER_FORMS, name) ? MEMBER_FORMS[name] : undefined;
      if (value !== null && form?.(value) === false)
        throw departure(name, "null or of its own form");
    }
};
