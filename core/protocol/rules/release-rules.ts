import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
  merchantAddress,
  registryAddress,
} from "../addresses/addresses.ts";
import type { CustodyInstructionData } from "../instructions/custody-instruction-data.ts";
import { decodeMerchantAccount } from "../accounts/merchant-account.ts";
import { INSTRUCTIONS_SYSVAR, TOKEN_PROGRAM } from "../addresses/well-known-addresses.ts";
import { attestationFault } from "./attestation-rules.ts";
import { type CustodyCall, type LedgerView, wrongAccount } from "./custody-call.ts";
import { expiredFault, pendingFault, settledEscrow } from "../accounts/escrow-rules.ts";
import { freshnessFault } from "./freshness-rules.ts";
import { payoutFault } from "./payout-rules.ts";

type ReleaseData = Extract<CustodyInstructionData, { name: "release_escrow" | "release_partial" }>;

/** Places of a release's first four accounts; those behind come one later in a partial release. */
const ESCROW = 0;
const VAULT = 1;
const MERCHANT = 2;
const MERCHANT_TOKENS = 3;
const AGENT_TOKENS = 4;

/** Why a `release_escrow` or `release_partial` cannot succeed; see docs/protocol.md, "custody" and "attestor". */
export const releaseFault = (
  call: CustodyCall,
  args: ReleaseData,
  view: LedgerView,
): SettlementFault | undefined => {
  const { deployment } = view;
  const partial = args.name === "release_partial";
  const rest = partial ? AGENT_TOKENS + 1 : AGENT_TOKENS;
  const [escrowPda, , merchantPda] = call.accounts;
  if (escrowPda === undefined || merchantPda === undefined) return undefined;
  const escrow = settledEscrow(call, escrowPda, view);
  if (escrow !== undefined && "fault" in escrow) return escrow.fault;
  const merchantAccount = call.found(merchantPda);
  const merchant =
    merchantAccount === undefined ? undefined : decodeMerchantAccount(merchantAccount, deployment);
  const fixed = wrongAccount(call, {
    config: [rest + 1, custodyConfigAddress(deployment).address],
    registry: [rest + 2, registryAddress(deployment).address],
    attestor_program: [rest + 3, deployment.attestorProgram],
    instructions_sysvar: [rest + 4, INSTRUCTIONS_SYSVAR],
    token_program: [rest + 5, TOKEN_PROGRAM],
  });
  const ofEscrow = () => {
    if (escrow === undefined) return undefined;
    const { mint } = escrow;
    return (
      pendingFault(escrow) ??
      expiredFault(escrow, view) ??
      wrongAccount(call, {
        escrow: [ESCROW, escrow.address],
        vault: [VAULT, associatedTokenAddress(escrow.address, mint)],
        merchant: [MERCHANT, merchantAddress(deployment, escrow.merchant).address],
        rent_payer: [rest, escrow.rentPayer],
      }) ??
      payoutFault(call, {
        whose: "merchant",
        place: MERCHANT_TOKENS,
        mint,
        owner: escrow.merchant,
      }) ??
      (partial
        ? payoutFault(call, { whose: "agent", place: AGENT_TOKENS, mint, owner: escrow.agentOwner })
        : undefined)
    );
  };
  const amount = (): SettlementFault | undefined => {
    if (!partial) return undefined;
    if (args.amount > 0n && (escrow === undefined || args.amount < escrow.amount)) return undefined;
    const below = escrow === undefined ? "" : ` and below the escrow's ${escrow.amount}`;
    return {
      rule: "amount_out_of_range",
      detail: `a partial release of ${args.amount} must be above 0${below}`,
    };
  };
  return (
    ofEscrow() ??
    fixed ??
    amount() ??
    attestationFault(
      call,
      {
        escrow: escrowPda,
        proofHash: args.proofHash,
        timestamp: args.timestamp,
        ...(partial ? { partialAmount: args.amount } : {}),
      },
      merchant !== undefined && "value" in merchant ? merchant.value : undefined,
    ) ??
    freshnessFault(args.timestamp, escrow, view)
  );
};
