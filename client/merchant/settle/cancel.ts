import { cancelEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import type { UnsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { dataBy } from "../../service/operation.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import { SettlementError } from "../../settlement-error.ts";
import { expectedTransaction } from "../../signing/expected-transaction.ts";
import type { MessageSigner } from "../../signing/message-signer.ts";
import { type EscrowTerms, readEscrowTerms } from "./escrow-terms.ts";
import { landTransaction } from "../land-transaction.ts";
import { addressNamed } from "../../pinned-policy.ts";
import type { MerchantContext } from "../merchant-context.ts";
import { withPayoutAccounts } from "./with-payout-accounts.ts";

/** An escrow that went back to its agent. */
export type Cancelled = {
  readonly escrow: string;
  /** Base units that the agent has back, decimal. */
  readonly refunded: string;
  /** The transaction; null when it was refunded already. */
  readonly signature: string | null;
};

/** The checked, unsigned transaction that cancels an escrow of `merchant`. @throws SettlementError */
export const cancellation = async (
  context: MerchantContext,
  terms: EscrowTerms,
  { merchant, payer }: { readonly merchant: string; readonly payer: string },
  signal?: AbortSignal,
): Promise<UnsignedTransaction> => {
  const { escrow, mint, agentOwner } = terms;
  const wallet = addressNamed(merchant, "wallet");
  const paying = addressNamed(payer, "payer");
  if (terms.merchant !== wallet)
    throw new SettlementError(
      "another_merchant",
      `${escrow} names the merchant ${terms.merchant}, not ${wallet}.`,
      "Sign with the wallet that the escrow names.",
    );
  const prepared = await dataBy(
    context.requests,
    "POST /v1/escrows/{pda}/cancel/prepare?transaction=true",
    { pda: escrow, payer: paying },
    { signal },
  );
  const owners = [agentOwner];
  const existing = context.needsAgentAccount === true ? owners : [];
  const call = cancelEscrowInstruction(deploymentIn(context.policy), {
    ...terms,
    merchant: wallet,
  });
  return expectedTransaction(
    prepared.transaction?.base64 ?? "",
    paying,
    (found) => withPayoutAccounts(found, { payer: paying, mint, owners, existing }, [call]),
    context.mostPriorityFee,
  );
};

/** Returns an escrow's money to its agent before expiry. Safe to run again. @throws SettlementError */
export const cancel = async (
  context: MerchantContext,
  {
    escrow,
    wallet,
    payer = wallet,
    signal,
  }: {
    readonly escrow: string;
    readonly wallet: MessageSigner;
    readonly payer?: MessageSigner;
    readonly signal?: AbortSignal;
  },
): Promise<Cancelled> => {
  const terms = await readEscrowTerms(context, escrow, signal);
  const { state, refunded_stroops, amount_stroops } = terms.record;
  if (state === "Refunded") return { escrow, refunded: refunded_stroops, signature: null };
  const parties = { merchant: wallet.publicKey, payer: payer.publicKey };
  const transaction = await cancellation(context, terms, parties, signal);
  const signature = await landTransaction(context, transaction, [payer, wallet], signal);
  return { escrow, refunded: amount_stroops, signature };
};
