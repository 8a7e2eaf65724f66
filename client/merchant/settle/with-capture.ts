import type { UnsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import { joinedTransaction } from "../../pay/joined-transaction.ts";
import { addressNamed } from "../../pinned-policy.ts";
import { type PendingCapture, preparedCapture } from "../../sessions/seller/settle-session.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import { landTransaction, type MerchantContext } from "../merchant-context.ts";

/** The seller of a merchant's sessions (`sessionSeller`), as far as it says what they owe. */
export type OwedSeller = {
  /** What is owed and not captured now. */
  readonly pendingCaptures: () => Promise<ReadonlyArray<PendingCapture>>;
  /** Captures all of it. */
  readonly captureAll: () => Promise<void>;
};

/**
 * Lands what forfeits `owed` once that is captured: in one transaction, so that nothing comes between; where both do not
 * fit into one, or the ledger refuses it, in two, the capture first. @throws SettlementError
 */
export const landedWithCapture = async (
  context: MerchantContext,
  owed: { readonly capture: PendingCapture; readonly seller: OwedSeller },
  { payer, wallet }: { readonly payer: MessageSigner; readonly wallet: MessageSigner },
  prepare: () => Promise<UnsignedTransaction>,
  signal: AbortSignal | undefined,
): Promise<string> => {
  const land = (transaction: UnsignedTransaction) =>
    landTransaction(context, transaction, [payer, wallet], signal);
  const { escrow, signed } = owed.capture;
  try {
    const capture = await preparedCapture({ ...context, payer }, escrow, signed);
    const own = await prepare();
    const paying = addressNamed(payer.publicKey, "payer");
    const joined = joinedTransaction([capture, own], paying, context.mostPriorityFee);
    if (joined !== null) return await land(joined);
  } catch (cause) {
    if (!(cause instanceof SettlementError)) throw cause;
  }
  signal?.throwIfAborted();
  await owed.seller.captureAll();
  return land(await prepare());
};
