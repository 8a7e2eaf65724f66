import { createAssociatedTokenInstruction } from "../../core/protocol/accounts/token.ts";
import { claimRefundInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { addressNamed } from "../pinned-policy.ts";
import type { LiveEscrow } from "../generated/contract.ts";
import { dataBy } from "../service/operation.ts";
import type { Requests } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import { type AcceptedSigner, signTransaction } from "../signing/sign-transaction.ts";
import { type PrepareContext, preparedTransaction } from "./prepared-transaction.ts";
import { relayUntilKnown } from "./relay.ts";

/** An escrow whose money is back with its agent. */
export type Refunded = {
  readonly escrow: string;
  /** Base units, decimal. */
  readonly refunded: string;
  /** The transaction that returned it; null when it was returned already. */
  readonly signature: string | null;
};

/** Transactions of one refund. Each further one needs proof that the last can no longer land. */
const MOST_TRANSACTIONS = 5;

const refundTransaction = async (
  context: PrepareContext,
  live: LiveEscrow,
  signer: AcceptedSigner,
  signal?: AbortSignal,
) => {
  const payer = addressNamed(signer.address, "signer");
  const [mint, agentOwner] = [
    addressNamed(live.mint, "mint"),
    addressNamed(live.agent_owner, "agent_owner"),
  ];
  const escrow = addressNamed(live.escrow_pda, "escrow");
  const rentPayer = addressNamed(live.rent_payer, "rent_payer");
  // The agent's token account is made first where there is none.
  const account = createAssociatedTokenInstruction({ payer, owner: agentOwner, mint });
  const unsigned = await preparedTransaction(
    context,
    "POST /v1/escrows/{pda}/refund/prepare?transaction=true",
    { pda: escrow, payer },
    (deployment, all) => {
      const refund = claimRefundInstruction(deployment, { escrow, mint, rentPayer, agentOwner });
      return all.length === 1 ? [refund] : [account, refund];
    },
    signal,
  );
  return signTransaction(unsigned, [signer]);
};

/**
 * Whether the escrow is refunded: its record then, null while it is pending. @throws SettlementError when it was
 * released.
 */
const refundedNow = async (
  requests: Requests,
  escrow: string,
  signal?: AbortSignal,
): Promise<{ readonly live: LiveEscrow; readonly isRefunded: boolean }> => {
  const live = await dataBy(requests, "GET /v1/escrows/{pda}", { pda: escrow }, { signal });
  if (live.escrow_pda !== escrow)
    throw new SettlementError(
      "another_escrow",
      `The service gave the escrow ${live.escrow_pda}.`,
      "Believe nothing of it, and sign nothing for it.",
    );
  if (live.state === "Fulfilled" || live.state === "PartiallyFulfilled")
    throw new SettlementError(
      "already_settled",
      `The escrow is ${live.state}: ${live.released_stroops} base units went to the merchant, ${live.refunded_stroops} back to the agent.`,
      "There is nothing left to refund. Read its evidence.",
    );
  return { live, isRefunded: live.state === "Refunded" };
};

/**
 * Returns an expired escrow's money to its agent, paid for by `signer`, and ends once that is confirmed. Safe to run
 * again after any failure.
 * @throws SettlementError before the escrow expires, when it was released, and what the signal was aborted with.
 */
export const refund = async (
  context: PrepareContext,
  escrow: string,
  signer: AcceptedSigner,
  signal?: AbortSignal,
): Promise<Refunded> => {
  addressNamed(escrow, "escrow");
  for (let made = 0; made < MOST_TRANSACTIONS; made++) {
    const { live, isRefunded } = await refundedNow(context.requests, escrow, signal);
    if (isRefunded) return { escrow, refunded: live.refunded_stroops, signature: null };
    const signed = await refundTransaction(context, live, signer, signal);
    const outcome = await relayUntilKnown(context.requests, signed, signal).catch(
      async (cause: unknown) => {
        // Refused, because somebody else's refund of the same escrow was first.
        if (!(cause instanceof SettlementError)) throw cause;
        const now = await refundedNow(context.requests, escrow, signal);
        if (!now.isRefunded) throw cause;
      },
    );
    if (outcome?.status === "landed" && outcome.error === null)
      return { escrow, refunded: live.amount_stroops, signature: signed.signature };
    if (outcome?.status !== "landed") continue;
    const now = await refundedNow(context.requests, escrow, signal);
    if (now.isRefunded) continue;
    throw new SettlementError(
      outcome.program_error?.name ?? "refund_failed",
      `The ledger refused the refund: ${outcome.program_error?.message ?? JSON.stringify(outcome.error)}.`,
      "Nothing was spent but the fee. Mend what it names and run the same again.",
      { problem: { outcome } },
    );
  }
  throw new SettlementError(
    "refund_expired",
    `${MOST_TRANSACTIONS} transactions expired before they could land.`,
    "The escrow is as it was. The ledger may be busy: run the same again.",
  );
};
