import type { Address } from "../../domain/address.ts";
import type { Escrow } from "../../domain/escrow/escrow.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import {
  closingFault,
  expiredFault,
  keptEscrow,
  notArchivableFault,
  notExpiredFault,
  notSessionFault,
  notSettledFault,
  pendingFault,
  wholeEscrow,
} from "../accounts/escrow-rules.ts";
import { decodeTokenAccount } from "../accounts/token.ts";
import { associatedTokenAddress, custodyConfigAddress } from "../addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../addresses/well-known-addresses.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import type { CustodyInstructionCall } from "../instructions/program-call.ts";
import { type CustodyCall, type LedgerView, wrongAccount } from "./custody-call.ts";
import { payoutFault } from "./payout-rules.ts";

const REFUND_PLACES = CUSTODY_INSTRUCTIONS.claim_refund.accounts;

/** Why the agent cannot be paid out of the vault. With nothing in it, nobody looks at the agent's accounts. */
const agentFault = (
  call: CustodyCall,
  escrow: Escrow,
  bump: number,
  { deployment }: LedgerView,
): SettlementFault | undefined => {
  const { mint, agentOwner: owner } = escrow;
  const account = call.found(associatedTokenAddress(escrow.address, mint));
  const vault = account && decodeTokenAccount(account);
  if (vault === undefined || vault.amount === 0n) return undefined;
  const { agent_token_account: associated, agent_fallback_account: fallback } = REFUND_PLACES;
  return payoutFault(call, { whose: "agent", mint, owner, bump, associated, fallback }, deployment);
};

/**
 * Why a `claim_refund` cannot succeed; see docs/protocol.md, "custody". It settles a Pending escrow that has ended. Of a settled one, archived or not, it
 * only empties the vault.
 */
export const refundFault = (
  call: CustodyCall,
  { args: { agentTokenBump, lastBytes } }: CustodyInstructionCall<"claim_refund">,
  view: LedgerView,
): SettlementFault | undefined => {
  const escrowPda = call.accounts[REFUND_PLACES.escrow.place];
  if (escrowPda === undefined) return undefined;
  const escrow = keptEscrow(call, escrowPda, lastBytes, view);
  const fixed = wrongAccount(call, REFUND_PLACES, { token_program: TOKEN_PROGRAM });
  if (escrow === undefined) return fixed;
  if ("fault" in escrow) return escrow.fault;
  const settling =
    escrow.state === "Pending"
      ? (notExpiredFault(escrow, view) ??
        wrongAccount(call, REFUND_PLACES, {
          config: custodyConfigAddress(view.deployment).address,
        }))
      : undefined;
  const vault = associatedTokenAddress(escrow.address, escrow.mint);
  return (
    settling ??
    wrongAccount(call, REFUND_PLACES, { vault }) ??
    fixed ??
    agentFault(call, escrow, agentTokenBump, view)
  );
};

const CANCEL_PLACES = CUSTODY_INSTRUCTIONS.cancel_escrow.accounts;

/** Why a `cancel_escrow` cannot succeed; see docs/protocol.md, "custody". */
export const cancelFault = (
  call: CustodyCall,
  _read: CustodyInstructionCall<"cancel_escrow">,
  view: LedgerView,
): SettlementFault | undefined => {
  const escrowPda = call.accounts[CANCEL_PLACES.escrow.place];
  if (escrowPda === undefined) return undefined;
  const config = custodyConfigAddress(view.deployment).address;
  const fixed = wrongAccount(call, CANCEL_PLACES, { config });
  const escrow = wholeEscrow(call, escrowPda, view);
  if (escrow === undefined) return fixed;
  if ("fault" in escrow) return escrow.fault;
  return (
    pendingFault(escrow) ??
    wrongAccount(call, CANCEL_PLACES, { merchant_wallet: escrow.merchant }) ??
    expiredFault(escrow, view) ??
    fixed
  );
};

const CLOSE_PLACES = CUSTODY_INSTRUCTIONS.close_session.accounts;

/** Why a `close_session` cannot succeed; see docs/protocol.md, "custody". */
export const closeFault = (
  call: CustodyCall,
  _read: CustodyInstructionCall<"close_session">,
  view: LedgerView,
): SettlementFault | undefined => {
  const escrowPda = call.accounts[CLOSE_PLACES.escrow.place];
  const escrow = escrowPda === undefined ? undefined : wholeEscrow(call, escrowPda, view);
  if (escrow === undefined) return undefined;
  if ("fault" in escrow) return escrow.fault;
  return (
    pendingFault(escrow) ??
    wrongAccount(call, CLOSE_PLACES, { agent_owner: escrow.agentOwner }) ??
    notSessionFault(escrow) ??
    closingFault(escrow) ??
    expiredFault(escrow, view)
  );
};

const RENT_PLACES = CUSTODY_INSTRUCTIONS.return_rent.accounts;

/** Why a `return_rent` cannot succeed; see docs/protocol.md, "custody". With nothing to return it succeeds and moves nothing. */
export const rentFault = (
  call: CustodyCall,
  { args: { lastBytes } }: CustodyInstructionCall<"return_rent">,
  view: LedgerView,
): SettlementFault | undefined => {
  const escrowPda = call.accounts[RENT_PLACES.escrow.place];
  const escrow = escrowPda === undefined ? undefined : keptEscrow(call, escrowPda, lastBytes, view);
  if (escrow === undefined) return undefined;
  if ("fault" in escrow) return escrow.fault;
  return (
    notSettledFault(escrow) ?? wrongAccount(call, RENT_PLACES, { rent_payer: escrow.rentPayer })
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
  const escrowPda: Address | undefined = call.accounts[ARCHIVE_PLACES.escrow.place];
  if (escrowPda === undefined) return undefined;
  const escrow = wholeEscrow(call, escrowPda, view);
  if (escrow === undefined) return undefined;
  if ("fault" in escrow) return escrow.fault;
  return (
    notArchivableFault(escrow, view) ??
    wrongAccount(call, ARCHIVE_PLACES, { rent_payer: escrow.rentPayer }) ??
    bytesFault(lastBytes, call.found(escrowPda)?.data)
  );
};
