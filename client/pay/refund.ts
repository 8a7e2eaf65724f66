import type { Address } from "../../core/domain/address.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import { associatedTokenAddress, escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { claimRefundInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { addressNamed } from "../pinned-policy.ts";
import type { LiveEscrow } from "../generated/contract.ts";
import { dataBy } from "../service/operation.ts";
import type { Requests } from "../service/requests.ts";
import { SettlementError } from "../settlement-error.ts";
import { type AcceptedSigner, signTransaction } from "../signing/sign-transaction.ts";
import { deploymentIn } from "./payment-terms.ts";
import { payoutAccountIn } from "./payout-account.ts";
import type { PrepareContext } from "./prepared-transaction.ts";
import { relayUntilKnown } from "./relay.ts";
import { claimIn, preparedSettlement } from "./settlement.ts";

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

/**
 * The agent of an escrow, whom its address proves: a refund out of an empty vault looks at no account of the agent, so
 * the ledger would not refuse another one's. @throws SettlementError `unsound_escrow`
 */
const agentOf = ({ policy }: PrepareContext, live: LiveEscrow): Address => {
  const agent = addressNamed(live.agent_owner, "agent_owner");
  const task = parseHash32(live.task_hash);
  if (task !== undefined) {
    const { address } = escrowAddress(deploymentIn(policy), agent, task);
    if (address === live.escrow_pda) return agent;
  }
  throw new SettlementError(
    "unsound_escrow",
    `The service's record of ${live.escrow_pda} is of another escrow: its agent and task hash do not make that address.`,
    "Sign nothing for it. Check the trust document, and do not use this service before its operator has explained it.",
  );
};

/** A signed refund, and whether nothing follows it. */
const refundTransaction = async (
  context: PrepareContext,
  live: LiveEscrow,
  { signer, isBare }: { readonly signer: AcceptedSigner; readonly isBare: boolean },
  signal?: AbortSignal,
) => {
  const payer = addressNamed(signer.address, "signer");
  const escrow = {
    escrow: addressNamed(live.escrow_pda, "escrow"),
    mint: addressNamed(live.mint, "mint"),
    agentOwner: agentOf(context, live),
    rentPayer: addressNamed(live.rent_payer, "rent_payer"),
  };
  const { mint, agentOwner: owner } = escrow;
  const prepared = await preparedSettlement(
    context,
    "POST /v1/escrows/{pda}/refund/prepare?transaction=true",
    { pda: escrow.escrow, payer, ...(isBare ? { bare: true } : {}) },
    {
      escrow,
      own: (deployment, all) => {
        const claim =
          claimIn(deployment, all, escrow) ?? claimRefundInstruction(deployment, escrow);
        const paid = associatedTokenAddress(owner, mint);
        const pays = claim.accounts.some(({ address }) => address === paid);
        return [...(pays ? payoutAccountIn(all, { payer, owner, mint }) : []), claim];
      },
      isBare,
    },
    signal,
  );
  return {
    signed: await signTransaction(prepared.transaction, [signer]),
    isBare: prepared.isBare,
  };
};

/**
 * Whether the vault is still there: with the agent's rest, or empty, as a session leaves it that was captured whole,
 * and then with its rent alone.
 */
const hasRest = ({ next_actions }: LiveEscrow): boolean =>
  next_actions.some(({ action }) => action === "claim_refund");

/**
 * The escrow's record, and whether its agent has everything back that was not released. @throws SettlementError when
 * all of it was released.
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
  if (live.state === "Fulfilled" && !hasRest(live))
    throw new SettlementError(
      "already_settled",
      `The escrow is Fulfilled: ${live.released_stroops} base units went to the merchant.`,
      "There is nothing left to refund. Read its evidence.",
    );
  return { live, isRefunded: live.state !== "Pending" && !hasRest(live) };
};

/** Base units that are the agent's once this escrow is refunded: what was not released. */
const refundOf = ({ state, amount_stroops, released_stroops, refunded_stroops }: LiveEscrow) =>
  state === "Pending"
    ? (BigInt(amount_stroops) - BigInt(released_stroops)).toString()
    : refunded_stroops;

/**
 * Returns to its agent what an ended or settled escrow holds, paid for by `signer`, and ends once that is confirmed.
 * Safe to run again after any failure.
 * @throws SettlementError before the escrow ends, when all of it was released, and what the signal was aborted with.
 */
export const refund = async (
  context: PrepareContext,
  escrow: string,
  signer: AcceptedSigner,
  signal?: AbortSignal,
): Promise<Refunded> => {
  addressNamed(escrow, "escrow");
  // What follows a refund names an account of another, who can make the whole fail: then it goes alone.
  let isBare = false;
  for (let made = 0; made < MOST_TRANSACTIONS; made++) {
    const { live, isRefunded } = await refundedNow(context.requests, escrow, signal);
    if (isRefunded) return { escrow, refunded: live.refunded_stroops, signature: null };
    const prepared = await refundTransaction(context, live, { signer, isBare }, signal);
    const { signed } = prepared;
    const outcome = await relayUntilKnown(context, signed, signal).catch(async (cause: unknown) => {
      // Refused, because somebody else's refund of the same escrow was first, or because of what follows it.
      if (!(cause instanceof SettlementError)) throw cause;
      const now = await refundedNow(context.requests, escrow, signal);
      if (!now.isRefunded && prepared.isBare) throw cause;
    });
    if (outcome?.status === "landed" && outcome.error === null)
      return { escrow, refunded: refundOf(live), signature: signed.signature };
    if (!prepared.isBare) {
      isBare = true;
      continue;
    }
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
