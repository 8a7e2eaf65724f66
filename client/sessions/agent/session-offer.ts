import { parseAddress } from "../../../core/domain/address.ts";
import { parseAmount } from "../../../core/domain/amount.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import type { SupportedMint } from "../../../core/domain/supported-mint.ts";
import {
  SESSION_SCHEME,
  X402_VERSION,
  x402Network,
} from "../../../core/protocol/x402/payment-requirements.ts";
import { OFFER_HEADER } from "../seller/offer.ts";

/** What a seller asks for one call out of a session. */
export type SessionOffer = {
  /** The merchant's wallet. */
  readonly merchant: string;
  readonly mint: SupportedMint;
  /** The most that the call costs, base units. */
  readonly price: bigint;
  /** The key that must attest. */
  readonly attestor: string;
  /** The shortest session that the seller takes, in seconds. */
  readonly leastSeconds: number;
};

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
};

const addressIn = (value: unknown): string | undefined =>
  typeof value === "string" ? parseAddress(value) : undefined;

const offerIn = (accepted: unknown, policy: TrustPolicy): SessionOffer | undefined => {
  const { scheme, network, asset, amount, payTo, extra } = membersOf(accepted);
  const { custody, attestor: attests, minSessionSeconds } = membersOf(extra);
  const mint = policy.supportedMints.find(({ address }) => address === asset);
  const merchant = addressIn(payTo);
  const attestor = addressIn(attests);
  const price = typeof amount === "string" ? parseAmount(amount) : undefined;
  const isOurs =
    scheme === SESSION_SCHEME &&
    network === x402Network(policy.genesisHash) &&
    custody === policy.custodyProgram;
  return isOurs &&
    mint !== undefined &&
    merchant !== undefined &&
    attestor !== undefined &&
    price !== undefined &&
    typeof minSessionSeconds === "number"
    ? { merchant, mint, price, attestor, leastSeconds: minSessionSeconds }
    : undefined;
};

/**
 * The first offer of an answer's `PAYMENT-REQUIRED` (x402 version 2) that is for sessions, on the ledger, by the custody
 * program and in a mint of the policy; null for an answer without one. What the seller writes is not proved.
 */
export const sessionOffer = (
  answer: { readonly status: number; readonly headers: Pick<Headers, "get"> },
  policy: TrustPolicy,
): SessionOffer | null => {
  if (answer.status !== 402) return null;
  const bytes = decodeBase64(answer.headers.get(OFFER_HEADER) ?? "");
  const { x402Version, accepts } = membersOf(jsonIn(new TextDecoder().decode(bytes)));
  if (x402Version !== X402_VERSION || !Array.isArray(accepts)) return null;
  for (const each of accepts) {
    const offer = offerIn(each, policy);
    if (offer !== undefined) return offer;
  }
  return null;
};
