import type { SettleContext } from "@x402/core/server";
import { parseAmount, formatUnits } from "../../../core/domain/amount.ts";
import { attest } from "../../merchant/settle/attest.ts";
import { cancellation } from "../../merchant/settle/cancel.ts";
import { readEscrowTerms } from "../../merchant/settle/escrow-terms.ts";
import { releaseTransaction } from "../../merchant/settle/release.ts";
import { SettlementError } from "../../settlement-error.ts";
import { type MessageSigner, transactionSignerOf } from "../../signing/message-signer.ts";
import { signTransaction } from "../../signing/sign-transaction.ts";
import {
  type Delivered,
  exchangeIn,
  expiredMs,
  type HeldPayment,
  paymentOf,
  type SellerContext,
} from "./seller-context.ts";
import { keptText } from "./kept-answers.ts";

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
  const asked = parseAmount(units);
  if (asked === terms.amount) return {};
  const mint = policy.supportedMints.find(({ address }) => address === terms.mint);
  if (asked === undefined || asked > terms.amount || mint === undefined)
    throw new SettlementError(
      "another_amount",
      `${units} base units cannot be settled of ${terms.amount}.`,
      "Settle at least 1 and at most what was accepted; answer with an error status to give all of it back.",
    );
  return { amount: formatUnits(asked, mint.decimals) };
};

/**
 * The signed release of `amount` base units, which carries the attestation of what was delivered. Prepared when it is needed, since a blockhash lasts about a minute.
 * @throws SettlementError
 */
export const signedRelease = async (
  seller: SellerContext,
  held: HeldPayment,
  { payload, template = null }: Delivered,
  amount: string,
): Promise<string> => {
  const { merchant, attestor, payer, journal } = seller;
  const { escrow } = held.payment;
  const part = partOf(seller, held, amount);
  const { mint } = held.terms;
  const statement = { escrow, payload, template, attestor, journal, mint, ...part };
  const attestation = await attest(merchant, statement);
  const terms = await readEscrowTerms(merchant, escrow);
  const transaction = await releaseTransaction(merchant, terms, attestation, payer.publicKey);
  return signed(transaction, [payer]);
};

/** The signed release for what the handler answered. The answer is kept before anybody can release. @throws SettlementError */
const releaseOf = async (seller: SellerContext, context: SettleContext): Promise<string> => {
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
  const release = await signedRelease(seller, held, delivered, amount);
  const text = keptText({ status, headers, body, delivered, amount, release });
  // A store that fails must not keep a buyer from its answer.
  if (text !== null)
    await answers.keep(escrow, text, expiredMs(seller, held)).catch(() => undefined);
  return release;
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
  return signed(await cancellation(merchant, terms, parties), [payer, wallet]);
};

/** What the seller adds to the payload for its facilitator: the phase, and what it has signed in it. @throws SettlementError */
export const settlementMembers = async (
  seller: SellerContext,
  context: SettleContext,
): Promise<Record<string, unknown>> => {
  const { phase } = context;
  if (phase === "before-handler") return { phase };
  if (phase === "after-handler") {
    const members = { phase, release: await releaseOf(seller, context) };
    seller.releases.set(context.paymentPayload, members);
    return members;
  }
  if (seller.wallet !== null)
    return { phase, cancel: await cancelOf(seller, context, seller.wallet) };
  throw new SettlementError("no_wallet", "Nobody can cancel without the wallet.", "Give it.");
};
