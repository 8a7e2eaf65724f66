import { ARCHIVED_ESCROW_LENGTH } from "../../../core/protocol/accounts/archived-escrow-account.ts";
import { ESCROW_ACCOUNT_LENGTH } from "../../../core/protocol/accounts/escrow-account.ts";
import type { LiveEscrow } from "../../generated/contract.ts";
import { closeSession } from "../../pay/close-session.ts";
import { escrowNow } from "../../pay/escrow-there.ts";
import type { PayContext } from "../../pay/pay.ts";
import { refund } from "../../pay/refund.ts";
import { hasRentOf, returnRent } from "../../pay/return-rent.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { AcceptedSigner } from "../../signing/sign-transaction.ts";
import type { AgentContext } from "./send-call.ts";
import { closeWithSeller } from "./close-with-seller.ts";
import { chargedTo } from "./open-session.ts";

/** What a whole session cost, in lamports, decimal. */
export type SessionLamports = {
  /** What this side paid for transactions, by its own journal. */
  readonly fees: string;
  /** The rent that stays on the ledger for ever, at the rate of 6,960 a byte, which only falls. */
  readonly kept: string;
  /** The rent that comes home when the escrow is archived, a week after its settlement or later. */
  readonly untilArchived: string;
  /** Fees and kept rent for each call, rounded up; null without calls. */
  readonly aCall: string | null;
};

/** How a session stands after it was closed. Amounts are base units, decimal. */
export type EndedSession = {
  readonly escrow: string;
  /**
   * `settled`: what was not used is home. `closing`: the agent's wallet has closed it on the ledger, the seller can
   * capture until `closesAt`, and closing it again after that fetches the rest.
   */
  readonly outcome: "settled" | "closing";
  /** RFC 3339; null where the seller settled it. */
  readonly closesAt: string | null;
  /** Why the seller did not close it, null where it did. */
  readonly refusal: string | null;
  readonly budget: string;
  /** What the merchant has, or by the newest receipt has coming. */
  readonly used: string;
  /** What is home, or will be. */
  readonly rest: string;
  readonly calls: number;
  readonly lamports: SessionLamports;
};

/** How long a settlement by the seller is usually awaited before the agent's wallet closes the session, and between looks. */
const SETTLING_MS = 60_000;
const LOOK_MS = 2_000;

/** Lamports a byte that an account must hold, and the bytes that are counted beside its own (Agave `rent.rs`). */
const RENT_A_BYTE = 6_960n;
const EVERY_ACCOUNT = 128;
const rentOf = (bytes: number): bigint => RENT_A_BYTE * BigInt(EVERY_ACCOUNT + bytes);

/** The lamports of rent that an escrow keeps for ever: those of its tombstone. */
export const KEPT_RENT: bigint = rentOf(ARCHIVED_ESCROW_LENGTH);

type Live = LiveEscrow | "archived" | null;

const isOver = (live: Live): boolean =>
  live === "archived" || (live !== null && live.state !== "Pending");

/** The escrow once it is settled, or as it is after `withinMs`. */
const onceSettled = async (
  { requests }: PayContext,
  escrow: string,
  withinMs: number,
  signal?: AbortSignal,
): Promise<Live> => {
  const began = requests.clock.nowMs();
  for (;;) {
    const live = await escrowNow(requests, escrow, signal);
    if (isOver(live) || requests.clock.nowMs() - began >= withinMs) return live;
    await requests.clock.pause(LOOK_MS, signal);
  }
};

/** Closes with the seller: null when it then settles the session, otherwise why not. Throws what is no answer of it. */
const closedBySeller = async (
  agent: AgentContext,
  url: string | null,
  signal?: AbortSignal,
): Promise<string | null> => {
  const { stopped } = await agent.journal.state();
  if (stopped !== null) return `The session has stopped: ${stopped.detail}`;
  if (url === null) return "No call was made, so that the seller knows nothing of the session.";
  try {
    const { endsBy } = await closeWithSeller(agent, url, signal);
    return endsBy === "agent"
      ? "Nothing was used, and such a session ends by the merchant's wallet or the agent's alone."
      : null;
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof SettlementError) return cause.message;
    throw cause;
  }
};

/**
 * Ends a session: the seller gets the closing voucher and settles, or else the agent's wallet closes it on the ledger,
 * for which it needs nobody. What a settlement leaves behind comes home by `claim_refund` and `return_rent`. Safe to run
 * again; after `closing`, once its time has come, that fetches the rest. @throws SettlementError
 */
export const endSession = async (
  context: PayContext,
  agent: AgentContext,
  {
    signer,
    url,
    settledWithinMs = SETTLING_MS,
    signal,
  }: {
    readonly signer: AcceptedSigner;
    /** One that the seller sells; null when none was ever called. */
    readonly url: string | null;
    /** How long a settlement by the seller is awaited, milliseconds; 60,000 when left out. */
    readonly settledWithinMs?: number | undefined;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<EndedSession> => {
  const { journal, session } = agent;
  const { escrow, amount } = session;
  const paying = { ...context, charged: chargedTo(journal) };
  const look = () => escrowNow(context.requests, escrow, signal);
  let live: Live = await look();
  let refusal: string | null = null;
  if (
    live !== "archived" &&
    live?.state === "Pending" &&
    live.closes_at === null &&
    !live.refundable
  ) {
    refusal = await closedBySeller(agent, url, signal);
    if (refusal === null) {
      live = await onceSettled(context, escrow, settledWithinMs, signal);
      if (!isOver(live))
        refusal = `The seller signed the end, and no settlement was seen in ${settledWithinMs / 1000} s.`;
    }
    if (!isOver(live)) {
      await closeSession(paying, escrow, signer, signal);
      live = await look();
    }
  }
  if (live !== "archived" && live?.next_actions.some(({ action }) => action === "claim_refund")) {
    await refund(paying, escrow, signer, signal);
    live = await look();
  }
  if (live !== "archived" && live !== null && hasRentOf(live, signer)) {
    await returnRent(paying, live, signer, signal);
    live = await look();
  }
  const { head, opening } = await journal.state();
  const settled = live !== "archived" && live !== null && isOver(live) ? live : null;
  const tallied = head?.receipt.delivery.totalAfter ?? 0n;
  const used = settled === null ? tallied : BigInt(settled.released_stroops);
  const calls = head?.voucher.count ?? 0;
  const fees = BigInt(opening?.fees ?? "0");
  const cost = fees + KEPT_RENT;
  return {
    escrow,
    outcome: isOver(live) ? "settled" : "closing",
    closesAt: live === "archived" ? null : (live?.closes_at ?? null),
    refusal,
    budget: amount.toString(),
    used: used.toString(),
    rest: (amount - used).toString(),
    calls,
    lamports: {
      fees: fees.toString(),
      kept: KEPT_RENT.toString(),
      untilArchived: (rentOf(ESCROW_ACCOUNT_LENGTH) - KEPT_RENT).toString(),
      aCall: calls === 0 ? null : ((cost + BigInt(calls) - 1n) / BigInt(calls)).toString(),
    },
  };
};
