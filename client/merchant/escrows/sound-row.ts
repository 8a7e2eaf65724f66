import type { Address } from "../../../core/domain/address.ts";
import type { Escrow } from "../../generated/contract.ts";
import { MEMBER_FORMS } from "../../service/forms.ts";
import { SettlementError } from "../../settlement-error.ts";

/** The columns of an export, in this order. */
export const EXPORT_COLUMNS = [
  "escrow_pda",
  "state",
  "agent_owner",
  "merchant",
  "mint",
  "amount_stroops",
  "released_stroops",
  "refunded_stroops",
  "task_hash",
  "proof_hash",
  "attestor",
  "created_at",
  "expires_at",
  "attested_at",
  "settled_at",
] as const satisfies ReadonlyArray<keyof Escrow>;

/** Those that are null until something happens. */
const LATER: ReadonlySet<string> = new Set<keyof Escrow>([
  "proof_hash",
  "attested_at",
  "settled_at",
]);
const STATES: ReadonlySet<unknown> = new Set<Escrow["state"]>([
  "Pending",
  "Fulfilled",
  "PartiallyFulfilled",
  "Refunded",
]);

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
  const fits = (name: string): boolean =>
    (LATER.has(name) && given[name] === null) || MEMBER_FORMS[name]?.(given[name]) === true;
  const wrong = STATES.has(given["state"])
    ? EXPORT_COLUMNS.find((name) => !fits(name))
    : ("state" as const);
  if (wrong !== undefined)
    throw unsoundEscrow(`The service gave an escrow whose ${wrong} is malformed.`);
  if (row.merchant !== merchant)
    throw unsoundEscrow(
      `The service gave the escrow ${row.escrow_pda} of the merchant ${row.merchant}.`,
    );
  return row;
};
