import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import { endOf, type Escrow } from "../../../core/domain/escrow/escrow.ts";
import { formatUnixTime, type UnixSeconds } from "../../../core/domain/unix-time.ts";
import type { Merchant } from "../../../core/domain/merchant/merchant.ts";
import type { TokenAccount } from "../../../core/protocol/accounts/token.ts";
import { isCanonicalKey } from "../../../core/protocol/crypto/strict-ed25519.ts";
import { revokedFault } from "../../../core/protocol/rules/release-rules.ts";
import type { Refusal } from "./refusal.ts";

/** Whose sessions a seller takes. */
export type TakenSessions = {
  /** The wallet that is paid. */
  readonly merchant: Address;
  /** The key that attests. */
  readonly attestor: Address;
  readonly mint: Address;
};

/** The shortest session that is taken, in seconds. */
export const MIN_SESSION_SECONDS = 600n;

/** The longest and the shortest margin before a session's end, in seconds. */
const MOST_MARGIN = 900n;
const LEAST_MARGIN = 60n;

/**
 * How long before its end a session takes no calls any more, in seconds, so that what it owes can still be captured:
 * 900, or a tenth of its time to live where that is less, at least 60.
 */
export const marginOf = ({
  createdAt,
  expiresAt,
}: Pick<Escrow, "createdAt" | "expiresAt">): bigint => {
  const tenth = (expiresAt - createdAt) / 10n;
  const margin = tenth < MOST_MARGIN ? tenth : MOST_MARGIN;
  return margin > LEAST_MARGIN ? margin : LEAST_MARGIN;
};

const unknown = (detail: string): Refusal => ({ code: "session_unknown", detail });
const ended = (detail: string): Refusal => ({ code: "session_ended", detail });

/** What makes an escrow no session of this seller, whatever the time is. */
const termsFault = (escrow: Escrow, taken: TakenSessions): string | undefined => {
  const { address, merchant, attestor, mint, sessionKey, createdAt, expiresAt } = escrow;
  if (sessionKey === null) return `${address} is a single payment, without a session key.`;
  if (merchant !== taken.merchant) return `${address} pays ${merchant}, not ${taken.merchant}.`;
  if (attestor !== taken.attestor)
    return `${address} names the attestor ${attestor}, not ${taken.attestor}.`;
  if (mint !== taken.mint) return `${address} is in the mint ${mint}, not in ${taken.mint}.`;
  if (!isCanonicalKey(addressToBytes(sessionKey)))
    return `The session key ${sessionKey} is not canonical, or of small order.`;
  if (expiresAt - createdAt < MIN_SESSION_SECONDS)
    return `${address} lasts ${expiresAt - createdAt} s, and ${MIN_SESSION_SECONDS} are the least.`;
  return undefined;
};

/** Whether the vault can pay what is left, by the escrow's own rule. */
const canPay = (
  { address, mint, amount, released }: Escrow,
  vault: TokenAccount | undefined,
): boolean =>
  vault !== undefined &&
  vault.owner === address &&
  vault.mint === mint &&
  vault.amount >= amount - released &&
  !vault.frozen &&
  vault.delegate === null &&
  vault.closeAuthority === null;

/** Why nothing is delivered for an escrow of this merchant: it could not be captured, or the merchant is to stop. */
const merchantRefusal = (escrow: Escrow, merchant: Merchant | null): Refusal | undefined => {
  if (merchant === null)
    return unknown(`${escrow.merchant} is no merchant on the finalized ledger.`);
  const revoked = revokedFault(escrow, merchant);
  if (revoked !== undefined)
    return { code: "attestor_revoked", detail: `${escrow.address}: ${revoked.detail}.` };
  return merchant.status === "Suspended"
    ? { code: "merchant_suspended", detail: `${escrow.merchant} is suspended.` }
    : undefined;
};

/**
 * Why calls of an escrow are not taken, undefined when they are. Escrow, vault and merchant are those of one moment of
 * the finalized ledger, whose time `ledgerTime` is.
 */
export const sessionRefusal = (
  escrow: Escrow,
  {
    vault,
    merchant,
  }: { readonly vault: TokenAccount | undefined; readonly merchant: Merchant | null },
  taken: TakenSessions,
  ledgerTime: UnixSeconds,
): Refusal | undefined => {
  const fault = termsFault(escrow, taken);
  if (fault !== undefined) return unknown(fault);
  const { address, state, closesAt } = escrow;
  if (state !== "Pending") return ended(`${address} is ${state}.`);
  if (closesAt !== null)
    return ended(`${address} is closed by its agent, and ends at ${formatUnixTime(closesAt)}.`);
  const margin = marginOf(escrow);
  if (ledgerTime >= endOf(escrow) - margin)
    return ended(`${address} ends within ${margin} s, and takes no calls any more.`);
  return canPay(escrow, vault)
    ? merchantRefusal(escrow, merchant)
    : unknown(`The vault of ${address} does not hold what is left of its budget.`);
};
