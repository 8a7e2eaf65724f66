import { cancelEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import type { UnsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { preparedTransaction } from "../../pay/prepared-transaction.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import { type EscrowTerms, readEscrowTerms } from "./escrow-terms.ts";
import { landTransaction, type MerchantContext } from "../merchant-context.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { withPayoutAccounts } from "./release.ts";

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
  const owners = [agentOwner];
  const existing = context.needsAgentAccount === true ? owners : [];
  return preparedTransaction(
    context,
    "POST /v1/escrows/{pda}/cancel/prepare?transaction=true",
    { pda: escrow, payer: paying },
    (deployment, instructions) =>
      withPayoutAccounts(instructions, { payer: paying, mint, owners, existing }, [
        cancelEscrowInstruction(deployment, { ...terms, merchant: wallet }),
      ]),
    signal,
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
