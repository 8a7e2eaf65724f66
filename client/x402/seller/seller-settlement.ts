import type { SettleContext, SettleFailureContext } from "@x402/core/server";
import type { SettleResponse } from "@x402/core/types";
import { formatUnits, parseAmount } from "../../../core/domain/amount.ts";
import { X402_VERSION } from "../../../core/protocol/x402/payment-requirements.ts";
import { attest } from "../../merchant/settle/attest.ts";
import { cancellation } from "../../merchant/settle/cancel.ts";
import { readEscrowTerms } from "../../merchant/settle/escrow-terms.ts";
import { releaseTransaction } from "../../merchant/settle/release.ts";
import { jsonOf, problemOf } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import {
  type MessageSigner,
  signTransaction,
  transactionSignerOf,
} from "../../signing/sign-transaction.ts";
import { lineOf } from "../payment-error.ts";
import { keptText } from "./kept-answers.ts";
import {
  type Delivered,
  exchangeIn,
  expiredMs,
  type HeldPayment,
  paymentOf,
  type SellerContext,
  type SentRelease,
} from "./seller-context.ts";

const signed = async (
  transaction: Parameters<typeof signTransaction>[0],
  signers: ReadonlyArray<MessageSigner>,
): Promise<string> => {
  const { base64 } = await signTransaction(transaction, signers.map(transactionSignerOf));
  return base64;
};

/** The merchant's part as a decimal, undefined for all of it: the seller may settle less than was accepted. */
const partOf = (
  { merchant: { policy } }: SellerContext,
  { terms }: HeldPayment,
  units: string,
): { readonly amount?: string } => {
  const amount = parseAmount(units);
  if (amount === terms.amount) return {};
  const mint = policy.supportedMints.find(({ address }) => address === terms.mint);
  if (amount === undefined || amount > terms.amount || mint === undefined)
    throw new SettlementError(
      "another_amount",
      `${units} base units cannot be settled of ${terms.amount}.`,
      "Settle at least 1 and at most what was accepted; answer with an error status to give all of it back.",
    );
  return { amount: formatUnits(amount, mint.decimals) };
};

/** A signed release in base64, and whether nothing follows it that could make it fail. */
type SignedRelease = { readonly release: string; readonly isBare: boolean };

/**
 * The signed release of `amount` base units, which carries the attestation of what was delivered. Prepared when it is
 * needed, since a blockhash lasts about a minute. With `isBare` nothing follows the release.
 * @throws SettlementError
 */
export const signedRelease = async (
  seller: SellerContext,
  held: HeldPayment,
  { payload, template = null }: Delivered,
  { amount, isBare }: { readonly amount: string; readonly isBare?: true },
): Promise<SignedRelease> => {
  const { merchant, attestor, payer, journal } = seller;
  const { escrow } = held.payment;
  const part = partOf(seller, held, amount);
  const { mint } = held.terms;
  const statement = { escrow, payload, template, attestor, journal, mint, ...part };
  const attestation = await attest(merchant, statement);
  const terms = await readEscrowTerms(merchant, escrow);
  const asked = { payer: payer.publicKey, ...(isBare && { isBare }) };
  const prepared = await releaseTransaction(merchant, terms, attestation, asked);
  return { release: await signed(prepared.transaction, [payer]), isBare: prepared.isBare };
};

/**
 * The signed release for what the handler answered. The answer is kept before anybody can release. @throws
 * SettlementError
 */
const releaseOf = async (seller: SellerContext, context: SettleContext): Promise<SentRelease> => {
  const { merchant, deliver, clock, answers } = seller;
  const held = paymentOf(seller, context);
  const { escrow, taskHash } = held.payment;
  const { method, url, body, headers, status } = exchangeIn(context.transportContext);
  const delivered = await deliver({
    escrow,
    taskHash,
    network: merchant.policy.genesisHash,
    method,
    url,
    body,
    headers,
    deliveredAtMs: clock.nowMs(),
  });
  if (delivered === null)
    throw new SettlementError(
      "not_attested",
      `Nothing was attested for the escrow ${escrow}.`,
      "It can be refunded once it has expired; nobody else can have the money.",
    );
  const { amount } = context.requirements;
  const { release, isBare } = await signedRelease(seller, held, delivered, { amount });
  const text = keptText({ status, headers, body, delivered, amount, release });
  // A store that fails must not keep a buyer from its answer.
  if (text !== null) await answers.keep(escrow, text, expiredMs(held)).catch(() => undefined);
  const bareRelease = async () =>
    (await signedRelease(seller, held, delivered, { amount, isBare: true })).release;
  return { release, bareRelease: isBare ? null : bareRelease };
};

/** The cancellation that the merchant's wallet has signed. @throws SettlementError */
const cancelOf = async (
  seller: SellerContext,
  context: SettleContext,
  wallet: MessageSigner,
): Promise<string> => {
  const { merchant, payer } = seller;
  const terms = await readEscrowTerms(merchant, paymentOf(seller, context).payment.escrow);
  const parties = { merchant: wallet.publicKey, payer: payer.publicKey };
  const { transaction } = await cancellation(merchant, terms, parties);
  return signed(transaction, [payer, wallet]);
};

/** What a seller adds to a payload whose release it has signed. */
const captureMembers = (release: string) => ({ type: "capture", transaction: release }) as const;

/**
 * What the seller adds to the payload for its facilitator: nothing before the handler, then what is done and the
 * transaction that it has signed for it. @throws SettlementError
 */
export const settlementMembers = async (
  seller: SellerContext,
  context: SettleContext,
): Promise<Record<string, unknown>> => {
  const { phase } = context;
  if (phase === "before-handler") return {};
  if (phase === "after-handler") {
    const sent = await releaseOf(seller, context);
    seller.releases.set(context.paymentPayload, sent);
    return captureMembers(sent.release);
  }
  if (seller.wallet !== null)
    return { type: "void", transaction: await cancelOf(seller, context, seller.wallet) };
  throw new SettlementError("no_wallet", "Nobody can cancel without the wallet.", "Give it.");
};

/** The facilitator waits for a confirmation itself, so a few tries outlast a blockhash. */
const TRIES = 4;
/** A release that was sent and is not confirmed yet. */
const PENDING = "settlement_pending";

/** Whether a failed settlement may have landed, or may still: no answer came, or none that says how it ended. */
const isOpen = (error: unknown): boolean => {
  const reason =
    typeof error === "object" && error !== null && "errorReason" in error
      ? error.errorReason
      : undefined;
  return typeof reason !== "string" || reason === PENDING;
};

/** The answer that says how a settlement failed. */
export const failedSettlement = (
  { agent, escrow }: HeldPayment["payment"],
  network: SettleResponse["network"],
  cause: unknown,
): SettleResponse => {
  const { code, line } = lineOf(cause);
  return {
    success: false,
    errorReason: code,
    errorMessage: line,
    payer: agent,
    transaction: "",
    network,
    extra: { escrow },
  };
};

/**
 * What settling a payment with a signed release comes to, at the seller's own service: it is never done twice. Tried
 * again while it is not confirmed. @throws SettlementError when no answer comes.
 */
export const settleRelease = async (
  { merchant: { requests } }: SellerContext,
  { paymentPayload, requirements }: Pick<SettleFailureContext, "paymentPayload" | "requirements">,
  release: string,
): Promise<SettleResponse> => {
  const payload = { ...paymentPayload.payload, ...captureMembers(release) };
  const body = {
    x402Version: X402_VERSION,
    paymentPayload: { ...paymentPayload, payload },
    paymentRequirements: requirements,
  };
  for (let tried = 1; ; tried++) {
    const answer = await requests.answer("/x402/settle", { body });
    if (answer.status !== 200) throw problemOf(answer);
    const result = jsonOf(answer) as SettleResponse;
    if (result.success || result.errorReason !== PENDING || tried === TRIES) return result;
  }
};

/**
 * Settles a release again of which nobody knows whether it lands, and one that was refused alone, without what followed
 * it. Once the attestation is out, the escrow can be released at any moment, so the buyer must have the delivery for
 * it. Null when there is no such release, and when it is refused or stays unknown. Never rejects.
 */
export const repeatSettlement = async (
  seller: SellerContext,
  context: SettleFailureContext,
): Promise<SettleResponse | null> => {
  const sent = seller.releases.get(context.paymentPayload);
  const { phase, error } = context;
  if (phase !== "after-handler" || sent === undefined) return null;
  try {
    const release = isOpen(error) ? sent.release : await sent.bareRelease?.();
    if (release === undefined) return null;
    const result = await settleRelease(seller, context, release);
    return result.success ? result : null;
  } catch {
    // The first failure is told.
    return null;
  }
};
