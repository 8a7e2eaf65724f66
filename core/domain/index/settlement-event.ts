import type { Address } from "../address.ts";
import { type Escrow, type EscrowState, refundedAmount, type SettledBy } from "../escrow/escrow.ts";
import type { Hash32 } from "../hash32.ts";
import type { LedgerSignature } from "../ledger/signature.ts";
import type { UnixSeconds } from "../unix-time.ts";

/** Every kind of settlement event. */
export const EVENT_KINDS = [
  "escrow_created",
  "escrow_released",
  "escrow_partially_released",
  "escrow_refunded",
] as const;
/** One of `EVENT_KINDS`. */
export type EventKind = (typeof EVENT_KINDS)[number];

/** An event that an escrow's account alone proves. */
export type SettlementEvent = {
  /** `<escrow>:<kind>`: the same event always has the same id. */
  readonly id: string;
  readonly kind: EventKind;
  readonly escrow: Address;
  readonly agentOwner: Address;
  readonly merchant: Address;
  readonly mint: Address;
  /** The state the event led to. */
  readonly state: EscrowState;
  /** Base units that moved: into the vault, to the merchant, or back to the agent. */
  readonly amount: bigint;
  readonly proofHash: Hash32 | null;
  readonly occurredAt: UnixSeconds;
};

/** An event in the index: its number, its leaf's hash, and its transaction where known. */
export type IndexedEvent = {
  readonly event: SettlementEvent;
  /** The number that the custody program gave the event, from 1. It is the leaf's index in the log. */
  readonly position: bigint;
  /** The hash of the event's leaf in the log (docs/log.md, "Tree"). */
  readonly leafHash: Hash32;
  readonly signature: LedgerSignature | null;
  readonly slot: bigint | null;
};

/** The transaction of an event, from the ledger's history. */
export type EventReference = {
  /** The event's number. */
  readonly position: bigint;
  readonly signature: LedgerSignature;
  readonly slot: bigint;
};

const KIND_OF = {
  Pending: "escrow_created",
  Fulfilled: "escrow_released",
  PartiallyFulfilled: "escrow_partially_released",
  Refunded: "escrow_refunded",
} as const satisfies Record<EscrowState, EventKind>;

/** The kind of the event that leads to a state. */
export const eventKindOf = (state: EscrowState): EventKind => KIND_OF[state];

/** How an instruction causes an event: it makes the escrow, or settles it in one of three ways. */
export type EventCauseKind = "creation" | Exclude<SettledBy, null>;

/**
 * The number of the event that an instruction caused to an escrow, null when it caused none of them. An instruction that claims a refund also empties
 * the vault of an escrow that was settled before, so it counts only where the escrow was settled by a refund or nobody knows
 * how (`settledBy` undefined). Of several refunds the earliest settled it.
 */
export const seqCausedBy = (
  {
    createdSeq,
    settledSeq,
    settledBy,
  }: Pick<Escrow, "createdSeq" | "settledSeq"> & { readonly settledBy?: SettledBy | undefined },
  cause: EventCauseKind,
): bigint | null => {
  if (cause === "creation") return createdSeq;
  return settledBy === undefined || settledBy === cause ? settledSeq : null;
};

/** The events that an escrow's account proves, oldest first: one while Pending, two once settled. */
export const eventsOf = (escrow: Escrow): ReadonlyArray<SettlementEvent> => {
  const { address, agentOwner, merchant, mint, state, settledAt } = escrow;
  const created: SettlementEvent = {
    id: `${address}:escrow_created`,
    kind: "escrow_created",
    escrow: address,
    agentOwner,
    merchant,
    mint,
    state: "Pending",
    amount: escrow.amount,
    proofHash: null,
    occurredAt: escrow.createdAt,
  };
  if (state === "Pending" || settledAt === null) return [created];
  const kind = eventKindOf(state);
  return [
    created,
    {
      ...created,
      id: `${address}:${kind}`,
      kind,
      state,
      amount: state === "Refunded" ? refundedAmount(escrow) : escrow.released,
      proofHash: escrow.attestation?.proofHash ?? null,
      occurredAt: settledAt,
    },
  ];
};
