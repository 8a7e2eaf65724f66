import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { formatUnixTime, LAST_UNIX_SECOND, type UnixSeconds } from "../../domain/unix-time.ts";
import { termsOf } from "../accounts/escrow-account.ts";
import { expiredFault, pendingFault, settledEscrow } from "../accounts/escrow-rules.ts";
import { decodeMerchantAccount } from "../accounts/merchant-account.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
  merchantAddress,
  registryAddress,
} from "../addresses/addresses.ts";
import { INSTRUCTIONS_SYSVAR, TOKEN_PROGRAM } from "../addresses/well-known-addresses.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import {
  type AttestationClaim,
  MAX_ATTESTATION_AGE_SECONDS,
  MAX_ATTESTATION_LEAD_SECONDS,
  SINGLE_DELIVERY,
} from "../instructions/attestation.ts";
import type { CustodyInstructionCall } from "../instructions/program-call.ts";
import { attestationFault } from "./attestation-rules.ts";
import { type CustodyCall, type LedgerView, wrongAccount } from "./custody-call.ts";
import { payoutFault } from "./payout-rules.ts";

/** A time as requests write it, and as a message holds it; only the seconds of a time that has no such form. */
const timeText = (time: UnixSeconds): string =>
  time < 0n || time > LAST_UNIX_SECOND ? `${time}` : `${formatUnixTime(time)} (${time})`;

/**
 * What is wrong with an attestation's timestamp: outside of the escrow's life, or too far from the
 * ledger's clock even if that clock is off by the view's margin.
 */
export const freshnessFault = (
  timestamp: UnixSeconds,
  escrow: Escrow | undefined,
  { ledgerTime, marginSeconds }: LedgerView,
): SettlementFault | undefined => {
  if (escrow !== undefined && (timestamp < escrow.createdAt || timestamp >= escrow.expiresAt))
    return {
      rule: "attestation_outside_escrow",
      detail: `the attestation's timestamp ${timeText(timestamp)} is outside of the escrow's life, from ${timeText(escrow.createdAt)} to before ${timeText(escrow.expiresAt)}`,
    };
  const age = ledgerTime - timestamp;
  if (age > MAX_ATTESTATION_AGE_SECONDS + marginSeconds)
    return {
      rule: "attestation_stale",
      detail: `the attestation is ${age} s old by the ledger's clock, ${age - MAX_ATTESTATION_AGE_SECONDS} s too old; at most ${MAX_ATTESTATION_AGE_SECONDS} s are taken`,
    };
  if (-age > MAX_ATTESTATION_LEAD_SECONDS + marginSeconds)
    return {
      rule: "attestation_in_future",
      detail: `the attestation is ${-age} s ahead of the ledger's clock; at most ${MAX_ATTESTATION_LEAD_SECONDS} s are taken`,
    };
  return undefined;
};

type Release = CustodyInstructionCall<"release_escrow" | "release_partial">;

const payoutsFault = (
  call: CustodyCall,
  release: Release,
  { mint, merchant, agentOwner }: Escrow,
  { deployment }: LedgerView,
): SettlementFault | undefined => {
  const places = CUSTODY_INSTRUCTIONS[release.name].accounts;
  const toMerchant = {
    whose: "merchant",
    mint,
    owner: merchant,
    bump: release.args.merchantTokenBump,
    associated: places.merchant_token_account,
    fallback: places.merchant_fallback_account,
  } as const;
  const fault = payoutFault(call, toMerchant, deployment);
  if (fault !== undefined || release.name === "release_escrow") return fault;
  const { agent_token_account: associated, agent_fallback_account: fallback } =
    CUSTODY_INSTRUCTIONS.release_partial.accounts;
  const bump = release.args.agentTokenBump;
  const toAgent = { whose: "agent", mint, owner: agentOwner, bump, associated, fallback } as const;
  return payoutFault(call, toAgent, deployment);
};

const escrowFault = (
  call: CustodyCall,
  release: Release,
  escrow: Escrow,
  view: LedgerView,
): SettlementFault | undefined =>
  pendingFault(escrow) ??
  expiredFault(escrow, view) ??
  wrongAccount(call, CUSTODY_INSTRUCTIONS[release.name].accounts, {
    vault: associatedTokenAddress(escrow.address, escrow.mint),
    merchant: merchantAddress(view.deployment, escrow.merchant).address,
    rent_payer: escrow.rentPayer,
  }) ??
  payoutsFault(call, release, escrow, view);

const amountFault = (release: Release, escrow: Escrow | undefined): SettlementFault | undefined => {
  if (release.name === "release_escrow") return undefined;
  if (release.args.amount > 0n && (escrow === undefined || release.args.amount < escrow.amount))
    return undefined;
  const below = escrow === undefined ? "" : ` and below the escrow's ${escrow.amount}`;
  return {
    rule: "amount_out_of_range",
    detail: `a partial release of ${release.args.amount} must be above 0${below}`,
  };
};

/** The fault of an escrow whose attestor the merchant revoked: its creation event is not above the merchant's `revokedSeq`. */
export const revokedFault = (
  { createdSeq, attestor }: Escrow,
  { revokedSeq, attestorSince }: Merchant,
): SettlementFault | undefined =>
  createdSeq > revokedSeq
    ? undefined
    : {
        rule: "attestor_revoked",
        detail: `the merchant revoked the attestors of all escrows up to event ${revokedSeq}; this escrow is event ${createdSeq} and its attestor is ${attestor}; the key was last rotated at ${formatUnixTime(attestorSince)}; it can only be cancelled or refunded`,
      };

/** The claim that the attestor must have signed for a release. */
const releasingClaim = (release: Release, escrow: Escrow, view: LedgerView): AttestationClaim => ({
  domain: view.domain,
  terms: termsOf(escrow),
  proofHash: release.args.proofHash,
  total: release.name === "release_partial" ? release.args.amount : escrow.amount,
  timestamp: release.args.timestamp,
  ...SINGLE_DELIVERY,
});

/** Why a `release_escrow` or `release_partial` cannot succeed; see docs/protocol.md, "custody" and "attestor". */
export const releaseFault = (
  call: CustodyCall,
  release: Release,
  view: LedgerView,
): SettlementFault | undefined => {
  const { deployment } = view;
  const places = CUSTODY_INSTRUCTIONS[release.name].accounts;
  const escrowPda = call.accounts[places.escrow.place];
  const merchantPda = call.accounts[places.merchant.place];
  if (escrowPda === undefined || merchantPda === undefined) return undefined;
  const escrow = settledEscrow(call, escrowPda, view);
  if (escrow !== undefined && "fault" in escrow) return escrow.fault;
  const merchantAccount = call.found(merchantPda);
  const merchant = merchantAccount && decodeMerchantAccount(merchantAccount, deployment);
  const fixed = wrongAccount(call, places, {
    config: custodyConfigAddress(deployment).address,
    registry: registryAddress(deployment).address,
    attestor_program: deployment.attestorProgram,
    instructions_sysvar: INSTRUCTIONS_SYSVAR,
    token_program: TOKEN_PROGRAM,
  });
  return (
    (escrow && escrowFault(call, release, escrow, view)) ??
    fixed ??
    amountFault(release, escrow) ??
    (escrow && merchant !== undefined && "value" in merchant
      ? revokedFault(escrow, merchant.value)
      : undefined) ??
    attestationFault(
      call,
      escrow && { claim: releasingClaim(release, escrow, view), attestor: escrow.attestor },
    ) ??
    freshnessFault(release.args.timestamp, escrow, view)
  );
};
