import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import { notArchivableFault, settledEscrow } from "../accounts/escrow-rules.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import type { CustodyInstructionCall } from "../instructions/program-call.ts";
import { type CustodyCall, type LedgerView, wrongAccount } from "./custody-call.ts";

const PLACES = CUSTODY_INSTRUCTIONS.archive_escrow.accounts;

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
  const escrowPda = call.accounts[PLACES.escrow.place];
  if (escrowPda === undefined) return undefined;
  const escrow = settledEscrow(call, escrowPda, view);
  if (escrow === undefined) return undefined;
  if ("fault" in escrow) return escrow.fault;
  return (
    notArchivableFault(escrow, view) ??
    wrongAccount(call, PLACES, { rent_payer: escrow.rentPayer }) ??
    bytesFault(lastBytes, call.found(escrowPda)?.data)
  );
};
