import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { rotateAttestorInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import type { Merchant } from "../generated/contract.ts";
import { preparedTransaction } from "../pay/prepared-transaction.ts";
import { SettlementError } from "../settlement-error.ts";
import type { MessageSigner } from "../signing/sign-transaction.ts";
import { type Awaited, watch } from "./escrows/watch.ts";
import { cancellation } from "./settle/cancel.ts";
import { readEscrowTerms } from "./settle/escrow-terms.ts";
import { landedWithCapture, type OwedSeller } from "./settle/with-capture.ts";
import type { PendingCapture } from "../sessions/seller/settle-session.ts";
import { landTransaction, type MerchantContext, readMerchant } from "./merchant-context.ts";
import { addressNamed } from "../pinned-policy.ts";
import { attestorKey } from "./register.ts";

/** The next attestor key. */
export type Rotation = {
  readonly wallet: MessageSigner;
  /** The new attestor key, base58. */
  readonly attestor: string;
  /** The former key was stolen: nothing that it signs may release an escrow from now on. */
  readonly compromised?: boolean;
  /**
   * The seller of the merchant's sessions (`sessionSeller`). A revocation forfeits what they owe, so that it is captured
   * in the same transaction; what does not fit into that is captured before.
   */
  readonly seller?: OwedSeller;
  /** Who pays the fees; the wallet when left out. */
  readonly payer?: MessageSigner;
  readonly signal?: AbortSignal;
};

/** An open escrow that can only be cancelled because its key was revoked, with the transaction for that. */
export type PreparedCancellation = {
  readonly escrow: string;
  readonly expires_at: string;
  /** Base units that go back to the agent, decimal. */
  readonly amount_stroops: string;
  /**
   * Unsigned and checked, base64. It can land for about a minute. When it could not be prepared, null, and `reason`
   * says why.
   */
  readonly transaction: string | null;
  readonly reason: string | null;
};

/** A changed key. */
export type Rotated = {
  readonly merchant: string;
  readonly attestor: string;
  readonly previous_attestor: string | null;
  /** The transaction; null when the key was the merchant's already. */
  readonly signature: string | null;
  /**
   * Open escrows that only an earlier key can release, soonest expiry first. Keep that key until the last of them has
   * ended.
   */
  readonly still_need_old_key: ReadonlyArray<Awaited>;
  /** With `compromised`: the open escrows that can only be cancelled. */
  readonly cancellations: ReadonlyArray<PreparedCancellation>;
};

const byExpiry = (a: Awaited, b: Awaited): number => (a.expires_at < b.expires_at ? -1 : 1);

/** The transaction of a rotation, landed; null when the key is the merchant's already. */
const changeKey = async (
  context: MerchantContext,
  { wallet, attestor: text, compromised = false, payer = wallet, seller, signal }: Rotation,
  there: Merchant,
): Promise<string | null> => {
  const merchant = addressNamed(wallet.publicKey, "wallet");
  const attestor = attestorKey(text);
  if (there.attestor === attestor) return null;
  const paying = addressNamed(payer.publicKey, "payer");
  const terms = { attestor, revoke: compromised };
  const prepare = () =>
    preparedTransaction(
      context,
      "POST /v1/merchants/{pubkey}/attestor/prepare?transaction=true",
      { pubkey: merchant, ...terms, payer: paying },
      (deployment) => [rotateAttestorInstruction(deployment, { merchant, ...terms })],
      signal,
    );
  const capture = seller && (await lastCapture(seller));
  return seller === undefined || capture === undefined
    ? landTransaction(context, await prepare(), [payer, wallet], signal)
    : landedWithCapture(context, { capture, seller }, { payer, wallet }, prepare, signal);
};

/** What is captured with the change of the key: one session's debt, after all others were captured. */
const lastCapture = async (seller: OwedSeller): Promise<PendingCapture | undefined> => {
  const owed = await seller.pendingCaptures();
  if (owed.length === 1) return owed[0];
  await seller.captureAll();
  // Of a call that came in between.
  return (await seller.pendingCaptures())[0];
};

const prepareCancellation = async (
  context: MerchantContext,
  { escrow, expires_at, left_stroops }: Awaited,
  parties: { readonly merchant: string; readonly payer: string },
  signal: AbortSignal | undefined,
): Promise<PreparedCancellation> => {
  const summary = { escrow, expires_at, amount_stroops: left_stroops };
  try {
    const terms = await readEscrowTerms(context, escrow, signal);
    const { transaction } = await cancellation(context, terms, parties, signal);
    return { ...summary, transaction: encodeBase64(transaction.bytes), reason: null };
  } catch (cause) {
    if (!(cause instanceof SettlementError)) throw cause;
    return { ...summary, transaction: null, reason: cause.message };
  }
};

/**
 * Names a new attestor key and returns once that is confirmed, with the open escrows that still need the old one. With
 * `compromised` it revokes the old key before anything else, and prepares the cancellation of what it leaves open. Safe
 * to run again. @throws SettlementError
 */
export const rotate = async (context: MerchantContext, rotation: Rotation): Promise<Rotated> => {
  const { wallet, payer = wallet, compromised = false, signal } = rotation;
  const merchant = addressNamed(wallet.publicKey, "wallet");
  const there = await readMerchant(context, merchant, signal);
  if (there === null)
    throw new SettlementError(
      "merchant_not_found",
      `${merchant} is not registered.`,
      "Register it with `merchant register`, or sign with the merchant's wallet.",
    );
  const signature = await changeKey(context, rotation, there);
  const open: Array<Awaited> = [];
  for await (const each of watch(context, { merchant, once: true, ...(signal && { signal }) }))
    open.push(each);
  const old = open.filter((each) => each.attestor !== rotation.attestor).sort(byExpiry);
  const stillNeed = old.filter(({ awaits }) => awaits === "attestation" || awaits === "session");
  if (compromised && signature === null && stillNeed.length > 0)
    throw new SettlementError(
      "not_revoked",
      `${rotation.attestor} is the merchant's key already, and ${stillNeed.length} open escrows can still be released with the old one.`,
      "Run it again with a further new key: only a change of the key revokes.",
    );
  const parties = { merchant, payer: payer.publicKey };
  const cancellations: Array<PreparedCancellation> = [];
  if (compromised)
    for (const each of open.filter(({ awaits }) => awaits === "cancellation").sort(byExpiry))
      cancellations.push(await prepareCancellation(context, each, parties, signal));
  return {
    merchant,
    attestor: rotation.attestor,
    previous_attestor: signature === null ? there.previous_attestor : there.attestor,
    signature,
    still_need_old_key: stillNeed,
    cancellations,
  };
};
