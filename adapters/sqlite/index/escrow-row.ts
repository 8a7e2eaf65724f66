import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import { BODY_AT } from "../../sql/escrow-body.ts";
import { stateNumber } from "../../sql/index-rows.ts";

/** SQL for 32 bytes of a body. */
export const inBody = (begin: number): string => `substr(body, ${begin + 1}, 32)`;

/**
 * SQL for the first six bytes of a hash in a body, which its index is of: different hashes may share them, so whoever
 * looks one up compares the hash besides.
 */
export const hashKey = (begin: number): string => `substr(body, ${begin + 1}, 6)`;

/** SQL that holds for escrows with a proof hash: those that were paid, whole or in part. */
export const HAS_PROOF = `state IN (${stateNumber("Fulfilled")}, ${stateNumber("PartiallyFulfilled")})`;

/** The columns of the table `escrow`, in the order of `bindEscrow`. All but `body` repeat what it is searched by. */
export const ESCROW_COLUMNS = [
  "created_seq",
  "settled_seq",
  "state",
  "expires_at",
  "address_key",
  "merchant_run",
  "agent_run",
  "body",
] as const;

/**
 * The six bytes at a place, such as the first of an address, as a number below 2^48. An index of these takes a quarter
 * of the room of one of whole addresses. Different addresses may share one, so whoever looks one up compares the
 * address besides.
 */
export const keyAt = (bytes: Uint8Array, begin: number): number =>
  (bytes[begin] ?? 0) * 2 ** 40 +
  (bytes[begin + 1] ?? 0) * 2 ** 32 +
  (bytes[begin + 2] ?? 0) * 2 ** 24 +
  (((bytes[begin + 3] ?? 0) << 16) | ((bytes[begin + 4] ?? 0) << 8) | (bytes[begin + 5] ?? 0));

/** What a query binds to find rows by an address: its key and its 32 bytes. */
export const addressKey = (
  address: Address,
): { readonly key: number; readonly bytes: Uint8Array } => {
  const bytes = addressToBytes(address);
  return { key: keyAt(bytes, 0), bytes };
};

/**
 * A party's key and a state as one number below 2^50: a party's escrows of one state are a run of an index. One column
 * instead of two makes a fifth of an index's cost.
 */
export const runOf = (key: number, state: number): number => key * ESCROW_STATES.length + state;

/** A little-endian u64 below 2^53. Reading bytes takes a tenth of making a view of them. */
export const safeAt = (bytes: Uint8Array, begin: number): number =>
  ((bytes[begin] ?? 0) | ((bytes[begin + 1] ?? 0) << 8) | ((bytes[begin + 2] ?? 0) << 16)) +
  (bytes[begin + 3] ?? 0) * 2 ** 24 +
  ((bytes[begin + 4] ?? 0) | ((bytes[begin + 5] ?? 0) << 8) | ((bytes[begin + 6] ?? 0) << 16)) *
    2 ** 32;

/** Appends what a body's row binds to `values`, in the order of `ESCROW_COLUMNS`. */
export const bindEscrow = (
  values: Array<number | bigint | Uint8Array | null>,
  body: Uint8Array,
): void => {
  const state = body[BODY_AT.state] ?? 0;
  values.push(
    safeAt(body, BODY_AT.createdSeq),
    state === 0 ? null : safeAt(body, BODY_AT.settledSeq),
    state,
    safeAt(body, BODY_AT.expiresAt),
    keyAt(body, BODY_AT.address),
    runOf(keyAt(body, BODY_AT.merchant), state),
    runOf(keyAt(body, BODY_AT.agentOwner), state),
    body,
  );
};
