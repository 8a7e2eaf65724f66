import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { formatUnixTime } from "../../domain/unix-time.ts";
import {
  expiredFault,
  notSessionFault,
  pendingFault,
  wholeEscrow,
} from "../accounts/escrow-rules.ts";
import { decodeMerchantAccount } from "../accounts/merchant-account.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
  merchantAddress,
  registryAddress,
} from "../addresses/addresses.ts";
import { INSTRUCTIONS_SYSVAR, TOKEN_PROGRAM } from "../addresses/well-known-addresses.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import type { CustodyInstructionCall } from "../instructions/program-call.ts";
import { formFault, proofOf } from "./attestation-rules.ts";
import { type CustodyCall, type LedgerView, wrongAccount } from "./custody-call.ts";
import { payoutFault } from "./payout-rules.ts";
import { provenFault } from "./proof-rules.ts";

type Payment = CustodyInstructionCall<"capture" | "release_escrow">;

/** A capture names what a release does, without what only a settlement needs. Both have it at the same places. */
const PLACES = CUSTODY_INSTRUCTIONS.capture.accounts;
const RELEASE_PLACES = CUSTODY_INSTRUCTIONS.release_escrow.accounts;

const escrowFault = (
  call: CustodyCall,
  { name, args: { merchantTokenBump: bump } }: Payment,
  escrow: Escrow,
  view: LedgerView,
): SettlementFault | undefined => {
  const { deployment } = view;
  const { mint, merchant: owner } = escrow;
  const { merchant_token_account: associated, merchant_fallback_account: fallback } = PLACES;
  return (
    pendingFault(escrow) ??
    (name === "capture" ? notSessionFault(escrow) : undefined) ??
    expiredFault(escrow, view) ??
    wrongAccount(call, PLACES, {
      vault: associatedTokenAddress(escrow.address, mint),
      merchant: merchantAddress(deployment, owner).address,
    }) ??
    payoutFault(call, { whose: "merchant", mint, owner, bump, associated, fallback }, deployment)
  );
};

/** The fault of an account that is the same in every payment. */
const fixedFault = (
  call: CustodyCall,
  { name }: Payment,
  { deployment }: LedgerView,
): SettlementFault | undefined => {
  const config = custodyConfigAddress(deployment).address;
  const fixed = {
    config,
    instructions_sysvar: INSTRUCTIONS_SYSVAR,
    token_program: TOKEN_PROGRAM,
  };
  return name === "capture"
    ? wrongAccount(call, PLACES, fixed)
    : wrongAccount(call, RELEASE_PLACES, {
        ...fixed,
        registry: registryAddress(deployment).address,
        attestor_program: deployment.attestorProgram,
      });
};

/**
 * The fault of an escrow whose attestor the merchant revoked: its creation event is not above the merchant's
 * `revokedSeq`.
 */
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

const proofFault = (
  call: CustodyCall,
  { name }: Payment,
  escrow: Escrow,
  view: LedgerView,
): SettlementFault | undefined => {
  const found = proofOf(call, escrow, view.domain);
  if ("fault" in found) return found.fault;
  return provenFault(escrow, found.proof, name === "release_escrow", view);
};

/**
 * Why a `capture` or `release_escrow` cannot succeed; see docs/protocol.md, "custody" and "attestor". What is attested
 * is read from the Ed25519
 * instruction, as the program does.
 */
export const paymentFault = (
  call: CustodyCall,
  payment: Payment,
  view: LedgerView,
): SettlementFault | undefined => {
  const escrowPda = call.accounts[PLACES.escrow.place];
  const merchantPda = call.accounts[PLACES.merchant.place];
  if (escrowPda === undefined || merchantPda === undefined) return undefined;
  const escrow = wholeEscrow(call, escrowPda, view);
  const fixed = fixedFault(call, payment, view);
  if (escrow === undefined) return fixed ?? formFault(call);
  if ("fault" in escrow) return escrow.fault;
  const merchantAccount = call.found(merchantPda);
  const merchant = merchantAccount && decodeMerchantAccount(merchantAccount, view.deployment);
  return (
    escrowFault(call, payment, escrow, view) ??
    fixed ??
    (merchant !== undefined && "value" in merchant
      ? revokedFault(escrow, merchant.value)
      : undefined) ??
    proofFault(call, payment, escrow, view)
  );
};
