import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import {
  expiredFault,
  notArchivableFault,
  notExpiredFault,
  pendingFault,
  settledEscrow,
} from "../accounts/escrow-rules.ts";
import { associatedTokenAddress, custodyConfigAddress } from "../addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../addresses/well-known-addresses.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import type { CustodyInstructionCall } from "../instructions/program-call.ts";
import { type CustodyCall, type LedgerView, wrongAccount } from "./custody-call.ts";
import { payoutFault } from "./payout-rules.ts";

/** The accounts of `cancel_escrow`. `claim_refund` has the same without the last, the merchant wallet. */
const PLACES = CUSTODY_INSTRUCTIONS.cancel_escrow.accounts;

/** Why a `claim_refund` or `cancel_escrow` cannot succeed; see docs/protocol.md, "custody". */
export const refundFault = (
  call: CustodyCall,
  { name, args: { agentTokenBump } }: CustodyInstructionCall<"claim_refund" | "cancel_escrow">,
  view: LedgerView,
): SettlementFault | undefined => {
  const { deployment } = view;
  const escrowPda = call.accounts[PLACES.escrow.place];
  if (escrowPda === undefined) return undefined;
  const fixed = wrongAccount(call, PLACES, {
    config: custodyConfigAddress(deployment).address,
    token_program: TOKEN_PROGRAM,
  });
  const escrow = settledEscrow(call, escrowPda, view);
  if (escrow === undefined) return fixed;
  if ("fault" in escrow) return escrow.fault;
  const { mint, agentOwner, rentPayer } = escrow;
  return (
    pendingFault(escrow) ??
    (name === "claim_refund"
      ? notExpiredFault(escrow, view)
      : (wrongAccount(call, PLACES, { merchant_wallet: escrow.merchant }) ??
        expiredFault(escrow, view))) ??
    wrongAccount(call, PLACES, {
      vault: associatedTokenAddress(escrow.address, mint),
      rent_payer: rentPayer,
    }) ??
    fixed ??
    payoutFault(
      call,
      {
        whose: "agent",
        mint,
        owner: agentOwner,
        bump: agentTokenBump,
        associated: PLACES.agent_token_account,
        fallback: PLACES.agent_fallback_account,
      },
      deployment,
    )
  );
};

const ARCHIVE_PLACES = CUSTODY_INSTRUCTIONS.archive_escrow.accounts;

const bytesFault = (
  given: Uint8Array,
  found: Uint8Array | undefined,
): SettlementFault | undefined => {
  const at = found?.findIndex((byte, i) => byte !== given[i]) ?? -1;
  return at < 0
    ? undefined
    : {
        rule: "last_bytes_differ",
        detail: `the bytes to archive differ from the escrow account's at byte ${at}`,
      };
};

/** Why an `archive_escrow` cannot succeed; see docs/protocol.md, "Archiving". */
export const archiveFault = (
  call: CustodyCall,
  { args: { lastBytes } }: CustodyInstructionCall<"archive_escrow">,
  view: LedgerView,
): SettlementFault | undefined => {
  const escrowPda = call.accounts[ARCHIVE_PLACES.escrow.place];
  if (escrowPda === undefined) return undefined;
  const escrow = settledEscrow(call, escrowPda, view);
  if (escrow === undefined) return undefined;
  if ("fault" in escrow) return escrow.fault;
  return (
    notArchivableFault(escrow, view) ??
    wrongAccount(call, ARCHIVE_PLACES, { rent_payer: escrow.rentPayer }) ??
    bytesFault(lastBytes, call.found(escrowPda)?.data)
  );
};
