import {
  endOf,
  type Escrow,
  type EscrowState,
  MAX_TTL_SECONDS,
  MIN_TTL_SECONDS,
} from "../../domain/escrow/escrow.ts";
import type { AccountFault } from "../../domain/ledger/account.ts";
import { LAST_UNIX_SECOND, type UnixSeconds } from "../../domain/unix-time.ts";
import { CUSTODY_CONSTANTS } from "../generated/custody.ts";

/** An escrow without its texts: what its account says in numbers. */
export type EscrowOutline = Pick<
  Escrow,
  | "address"
  | "state"
  | "amount"
  | "released"
  | "deliveries"
  | "createdAt"
  | "expiresAt"
  | "closesAt"
  | "settledAt"
  | "settledBy"
  | "createdSeq"
  | "settledSeq"
> & {
  /** Whether the account has a session key. */
  readonly isSession: boolean;
  /** The timestamp inside the attestation, null without one. */
  readonly attestedAt: UnixSeconds | null;
};

/** The state that a settlement leaves: it goes by what was released, whoever settled. */
export const settledState = (released: bigint, amount: bigint): Exclude<EscrowState, "Pending"> => {
  if (released === 0n) return "Refunded";
  return released === amount ? "Fulfilled" : "PartiallyFulfilled";
};

/**
 * The first second at which the ledger's clock can have shown an escrow as it is, its settlement aside: it takes an
 * attestation that is a little ahead, and a closing leaves a session no more than a quarter of an hour.
 */
export const shownFrom = ({
  createdAt,
  closesAt,
  attestedAt,
}: Pick<EscrowOutline, "createdAt" | "closesAt" | "attestedAt">): UnixSeconds =>
  [
    attestedAt === null ? createdAt : attestedAt - CUSTODY_CONSTANTS.MAX_ATTESTATION_LEAD_SECONDS,
    closesAt === null ? createdAt : closesAt - CUSTODY_CONSTANTS.CLOSE_DELAY_SECONDS,
  ].reduce((latest, time) => (time > latest ? time : latest), createdAt);

/**
 * Whether the times of an escrow can be: each within its life, and a settlement on the side of the end where its kind
 * belongs.
 */
const timesAgree = (escrow: EscrowOutline): boolean => {
  const { createdAt, expiresAt, closesAt, settledAt, settledBy, attestedAt } = escrow;
  const ttl = expiresAt - createdAt;
  const end = endOf(escrow);
  if (createdAt < 0n || expiresAt > LAST_UNIX_SECOND) return false;
  if (ttl < BigInt(MIN_TTL_SECONDS) || ttl > BigInt(MAX_TTL_SECONDS)) return false;
  if (closesAt !== null && (closesAt <= createdAt || closesAt > expiresAt)) return false;
  const shortest = createdAt + CUSTODY_CONSTANTS.CLOSE_DELAY_SECONDS;
  if (closesAt !== null && closesAt < expiresAt && closesAt < shortest) return false;
  if (settledAt !== null) {
    if (settledAt < shownFrom(escrow) || settledAt > LAST_UNIX_SECOND) return false;
    if ((settledBy === "refund") !== settledAt >= end) return false;
    const oldest = settledAt - CUSTODY_CONSTANTS.MAX_ATTESTATION_AGE_SECONDS;
    if (settledBy === "release" && attestedAt !== null && attestedAt < oldest) return false;
  }
  // A capture takes an attestation that is a little ahead of the ledger's clock; a final one lies before the end.
  const lead = settledBy === "release" ? 0n : CUSTODY_CONSTANTS.MAX_ATTESTATION_LEAD_SECONDS;
  return (
    attestedAt === null ||
    (attestedAt >= createdAt && attestedAt < end + lead && attestedAt <= LAST_UNIX_SECOND)
  );
};

/** Whether what is counted agrees: amounts, deliveries, attestation, and how it was settled. */
const countsAgree = (escrow: EscrowOutline): boolean => {
  const { state, settledBy, isSession, amount, released, deliveries, closesAt } = escrow;
  const isPaid = released > 0n;
  if (state === "Pending" ? settledBy !== null : state !== settledState(released, amount))
    return false;
  if ((state === "Pending") !== (settledBy === null)) return false;
  if ((escrow.attestedAt !== null) !== isPaid || (deliveries > 0 && !isPaid)) return false;
  if (settledBy === "release" && !isPaid) return false;
  // A single payment is paid by its release or not at all, for one delivery.
  return (
    isSession ||
    (closesAt === null && isPaid === (settledBy === "release") && deliveries === (isPaid ? 1 : 0))
  );
};

/** The first number that contradicts the escrow's state or limits, undefined when none does. */
export const contradiction = (
  escrow: EscrowOutline,
  hasAttestor: boolean,
): AccountFault | undefined => {
  const { state, amount, released, settledAt, createdSeq, settledSeq } = escrow;
  if (amount === 0n || released > amount) return "amount_out_of_range";
  if ((settledAt === null) !== (state === "Pending")) return "fields_contradict_state";
  if (!countsAgree(escrow)) return "fields_contradict_state";
  if (!timesAgree(escrow)) return "time_out_of_range";
  if (!hasAttestor || createdSeq === 0n) return "fields_contradict_state";
  if ((settledSeq === null) !== (state === "Pending")) return "fields_contradict_state";
  if (settledSeq !== null && settledSeq <= createdSeq) return "fields_contradict_state";
  return undefined;
};
