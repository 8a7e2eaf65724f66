import { type Address, parseAddress } from "../../../core/domain/address.ts";
import { parseAmount } from "../../../core/domain/amount.ts";
import { parseHash32 } from "../../../core/domain/hash32.ts";
import { parseUnixTime } from "../../../core/domain/unix-time.ts";
import type { Escrow } from "../../generated/contract.ts";
import { SettlementError } from "../../settlement-error.ts";

type Form = (text: string) => boolean;

const isAddress: Form = (text) => parseAddress(text) !== undefined;
const isHash: Form = (text) => parseHash32(text) !== undefined;
const isTime: Form = (text) => parseUnixTime(text) !== undefined;
const isUnits: Form = (text) => text === "0" || parseAmount(text) !== undefined;
const STATES: ReadonlySet<string> = new Set<Escrow["state"]>([
  "Pending",
  "Fulfilled",
  "PartiallyFulfilled",
  "Refunded",
]);

const FORMS = {
  escrow_pda: isAddress,
  state: (text) => STATES.has(text),
  agent_owner: isAddress,
  merchant: isAddress,
  mint: isAddress,
  amount_stroops: isUnits,
  released_stroops: isUnits,
  refunded_stroops: isUnits,
  task_hash: isHash,
  attestor: isAddress,
  created_at: isTime,
  expires_at: isTime,
} as const satisfies { readonly [K in keyof Escrow]?: Form };

/** Those that are null until something happens. */
const LATER_FORMS = {
  proof_hash: isHash,
  attested_at: isTime,
  settled_at: isTime,
} as const satisfies { readonly [K in keyof Escrow]?: Form };

/** The failure of a service that gives what no service gives. */
export const unsoundEscrow = (detail: string): SettlementError =>
  new SettlementError(
    "unsound_escrow",
    detail,
    "Believe nothing of it, and do not use this service before its operator has explained it.",
  );

/**
 * A service's record of an escrow, when it is one of `merchant` and each member that goes into books has its form: a text of another form could be a formula or another row there.
 * @throws SettlementError `unsound_escrow` for anything else.
 */
export const soundRow = <R extends Escrow>(row: R, merchant: Address): R => {
  const given = (typeof row === "object" && row !== null ? row : {}) as Record<string, unknown>;
  const fits = (name: string, form: Form): boolean => {
    const value = given[name];
    return typeof value === "string" && form(value);
  };
  const wrong =
    Object.entries(FORMS).find(([name, form]) => !fits(name, form)) ??
    Object.entries(LATER_FORMS).find(([name, form]) => given[name] !== null && !fits(name, form));
  if (wrong !== undefined)
    throw unsoundEscrow(`The service gave an escrow whose ${wrong[0]} is malformed.`);
  if (row.merchant !== merchant)
    throw unsoundEscrow(
      `The service gave the escrow ${row.escrow_pda} of the merchant ${row.merchant}.`,
    );
  return row;
};
