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

/** How an escrow was settled, at the position of its number in the account (u8), which is 0 while Pending. */
export const SETTLED_BY = [null, "release", "refund", "cancel"] as const;

/** Null while Pending. */
export type SettledBy = (typeof SETTLED_BY)[number];

/** What the escrow's attestor signed last, as the escrow account keeps it after a capture or a release. */
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
  /** The key that signs the vouchers of a session, null for a single payment. */
  readonly sessionKey: Address | null;
  readonly amount: bigint;
  /** Base units paid to the merchant so far. A session pays while Pending too. */
  readonly released: bigint;
  /** How many deliveries were attested at the last capture or release, 0 before. u32 */
  readonly deliveries: number;
  readonly createdAt: UnixSeconds;
  /** The first second at which the escrow can only be refunded, unless `closesAt` is earlier: see `endOf`. */
  readonly expiresAt: UnixSeconds;
  /** The end that the agent set by closing its session, at most `expiresAt`; null when it did not. */
  readonly closesAt: UnixSeconds | null;
  /** Null while Pending. */
  readonly settledAt: UnixSeconds | null;
  readonly settledBy: SettledBy;
  /** The merchant's attestor key when the escrow was made: the only one that releases it. */
  readonly attestor: Address;
  /** Of the last capture or release; null while nothing was released. */
  readonly attestation: Attestation | null;
  /** The number of the creation among all events of the custody program, from 1 on. u64 */
  readonly createdSeq: bigint;
  /** The number of the settlement, above `createdSeq`; null while Pending. u64 */
  readonly settledSeq: bigint | null;
};

/** The end of an escrow: the first second at which it can only be refunded. */
export const endOf = ({
  expiresAt,
  closesAt,
}: Pick<Escrow, "expiresAt" | "closesAt">): UnixSeconds => closesAt ?? expiresAt;

/** Base units refunded to the agent: `amount - released` once settled, 0 while Pending. */
export const refundedAmount = (escrow: Escrow): bigint =>
  escrow.state === "Pending" ? 0n : escrow.amount - escrow.released;

/** Whether anyone may claim the refund at a ledger time: the escrow is Pending and its end is reached. */
export const isRefundable = (escrow: Escrow, ledgerTime: UnixSeconds): boolean =>
  escrow.state === "Pending" && ledgerTime >= endOf(escrow);

/** Whether the merchant gave back what was not released. Only the merchant can before the end. */
export const isCancelled = ({ settledBy }: Escrow): boolean => settledBy === "cancel";
