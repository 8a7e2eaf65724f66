import { cancelEscrowInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import {
  isBareFirst,
  landedSettlement,
  type PreparedSettlement,
  preparedSettlement,
} from "../../pay/settlement.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import { type EscrowTerms, readEscrowTerms } from "./escrow-terms.ts";
import { landTransaction, type MerchantContext } from "../merchant-context.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { landedWithCapture, type OwedSeller } from "./with-capture.ts";

/** An escrow that its merchant gave up: what was not released is the agent's. */
export type Cancelled = {
  readonly escrow: string;
  /** Base units that are the agent's again, decimal. */
  readonly refunded: string;
  /** The transaction; null when it was cancelled or refunded already. */
  readonly signature: string | null;
};

/**
 * The checked, unsigned transaction that cancels an escrow of `merchant`; with `isBare` nothing follows that. @throws
 * SettlementError
 */
export const cancellation = async (
  context: MerchantContext,
  terms: EscrowTerms,
  {
    merchant,
    payer,
    isBare = isBareFirst(terms.ledgerTime, terms.endsAt),
  }: { readonly merchant: string; readonly payer: string; readonly isBare?: boolean },
  signal?: AbortSignal,
): Promise<PreparedSettlement> => {
  const { escrow } = terms;
  const wallet = addressNamed(merchant, "wallet");
  const paying = addressNamed(payer, "payer");
  if (terms.merchant !== wallet)
    throw new SettlementError(
      "another_merchant",
      `${escrow} names the merchant ${terms.merchant}, not ${wallet}.`,
      "Sign with the wallet that the escrow names.",
    );
  return preparedSettlement(
    context,
    "POST /v1/escrows/{pda}/cancel/prepare?transaction=true",
    { pda: escrow, payer: paying, ...(isBare ? { bare: true } : {}) },
    {
      escrow: terms,
      own: (deployment) => [cancelEscrowInstruction(deployment, { escrow, merchant: wallet })],
      isBare,
    },
    signal,
  );
};

/** Ends an escrow before its end: what was not released is its agent's. Safe to run again. @throws SettlementError */
export const cancel = async (
  context: MerchantContext,
  {
    escrow,
    wallet,
    payer = wallet,
    seller,
    signal,
  }: {
    readonly escrow: string;
    readonly wallet: MessageSigner;
    readonly payer?: MessageSigner;
    /** Of a session, its seller: what is owed is captured in the same transaction, since a cancellation forfeits it. */
    readonly seller?: OwedSeller;
    readonly signal?: AbortSignal;
  },
): Promise<Cancelled> => {
  const terms = await readEscrowTerms(context, escrow, signal);
  const { state, settled_by, refunded_stroops } = terms.record;
  if (state === "Refunded" || settled_by === "cancel")
    return { escrow, refunded: refunded_stroops, signature: null };
  const parties = { merchant: wallet.publicKey, payer: payer.publicKey };
  const owed = await seller?.pendingCaptures();
  const capture = owed?.find((each) => each.escrow.address === terms.escrow);
  if (seller !== undefined && capture !== undefined) {
    // Alone, so that there is room for the capture. The agent's rest and the rents can be fetched by anybody.
    const prepare = async () =>
      (await cancellation(context, terms, { ...parties, isBare: true }, signal)).transaction;
    const both = { payer, wallet };
    const signature = await landedWithCapture(context, { capture, seller }, both, prepare, signal);
    const { released } = await readEscrowTerms(context, escrow, signal);
    return { escrow, refunded: (terms.amount - released).toString(), signature };
  }
  const signature = await landedSettlement(
    (isBare) => cancellation(context, terms, { ...parties, isBare }, signal),
    (transaction) => landTransaction(context, transaction, [payer, wallet], signal),
    isBareFirst(terms.ledgerTime, terms.endsAt),
  );
  return { escrow, refunded: (terms.amount - terms.released).toString(), signature };
};
