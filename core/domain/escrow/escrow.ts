import type { Address } from "../address.ts";
import type { Hash32 } from "../hash32.ts";
import type { UnixSeconds } from "../unix-time.ts";

/** Every state of an escrow, at the position of its number in the account (u8). */
export const ESCROW_STATES = ["Pending", "Fulfilled", "Refunded", "PartiallyFulfilled"] as const;

/** Pending is the only state that can change; the other three are final. */
export type EscrowState = (typeof ESCROW_STATES)[number];

/** The shortest time to live of an escrow, in seconds. */
export const MIN_TTL_SECONDS = 1;
/** The longest time to live of an escrow, in seconds: seven days. */
export const MAX_TTL_SECONDS = 604_800;

/** What the escrow's attestor signed, as the escrow account keeps it once released. */
export type Attestation = {
  readonly proofHash: Hash32;
  /** The timestamp inside the signed message. */
  readonly attestedAt: UnixSeconds;
  /** The Ed25519 signature, 64 bytes as base64. */
  readonly signature: string;
};

/** One escrow account, decoded. Amounts are base units of `mint`, u64. */
export type Escrow = {
  readonly address: Address;
  readonly bump: number;
  /** The bump of the vault's address. */
  readonly vaultBump: number;
  readonly state: EscrowState;
  readonly agentOwner: Address;
  /** The merchant wallet, not the merchant account. */
  readonly merchant: Address;
  readonly mint: Address;
  /** The payer of the vault's rent, who gets it back at settlement. */
  readonly rentPayer: Address;
  readonly taskHash: Hash32;
  readonly amount: bigint;
  /** Base units paid to the merchant: all when Fulfilled, a part when PartiallyFulfilled, otherwise 0. */
  readonly released: bigint;
  readonly createdAt: UnixSeconds;
  /** The first second at which the escrow can only be refunded. */
  readonly expiresAt: UnixSeconds;
  /** Null while Pending. */
  readonly settledAt: UnixSeconds | null;
  /** The merchant's attestor key when the escrow was made: the only one that releases it. */
  readonly attestor: Address;
  /** Null unless Fulfilled or PartiallyFulfilled. */
  readonly attestation: Attestation | null;
  /** The number of the creation among all events of the custody program, from 1 on. u64 */
  readonly createdSeq: bigint;
  /** The number of the settlement, above `createdSeq`; null while Pending. u64 */
  readonly settledSeq: bigint | null;
};

/** Base units refunded to the agent: `amount - released` once settled, 0 while Pending. */
export const refundedAmount = (escrow: Escrow): bigint =>
  escrow.state === "Pending" ? 0n : escrow.amount - escrow.released;

/** Whether anyone may claim the refund at a ledger time: the escrow is Pending and `expiresAt` is reached. */
export const isRefundable = (escrow: Escrow, ledgerTime: UnixSeconds): boolean =>
  escrow.state === "Pending" && ledgerTime >= escrow.expiresAt;

/** Whether the merchant gave the money back. Only the merchant can before expiry. */
export const isCancelled = ({ state, settledAt, expiresAt }: Escrow): boolean =>
  state === "Refunded" && settledAt !== null && settledAt < expiresAt;
