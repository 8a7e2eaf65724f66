import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { associatedTokenAddress } from "../addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../addresses/well-known-addresses.ts";
import { type CustodyCall, type LedgerView, wrongAccount } from "./custody-call.ts";
import { notExpiredFault, pendingFault, settledEscrow } from "../accounts/escrow-rules.ts";
import { payoutFault } from "./payout-rules.ts";

const VAULT = 1;
const AGENT_TOKENS = 2;
const RENT_PAYER = 3;
const TOKENS = 4;

/** Why a `claim_refund` cannot succeed; see docs/protocol.md, "custody". */
export const refundFault = (call: CustodyCall, view: LedgerView): SettlementFault | undefined => {
  const [escrowPda] = call.accounts;
  if (escrowPda === undefined) return undefined;
  const token = wrongAccount(call, { token_program: [TOKENS, TOKEN_PROGRAM] });
  const escrow = settledEscrow(call, escrowPda, view);
  if (escrow === undefined) return token;
  if ("fault" in escrow) return escrow.fault;
  const { mint, agentOwner, rentPayer } = escrow;
  return (
    pendingFault(escrow) ??
    notExpiredFault(escrow, view) ??
    wrongAccount(call, {
      vault: [VAULT, associatedTokenAddress(escrow.address, mint)],
      rent_payer: [RENT_PAYER, rentPayer],
    }) ??
    token ??
    payoutFault(call, { whose: "agent", place: AGENT_TOKENS, mint, owner: agentOwner })
  );
};
