import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { LedgerTransaction } from "../../domain/ledger/history.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import { decodeCustodyInstruction } from "../instructions/custody-instruction-data.ts";

const { accounts: PLACES } = CUSTODY_INSTRUCTIONS.archive_escrow;

/** Account bytes that a transaction gave to `archive_escrow`, and the escrow it named. */
export type ArchivedBytes = { readonly escrow: Address; readonly data: Uint8Array };

/**
 * The account bytes in a transaction's `archive_escrow` instructions, at its top level and in instructions that programs called. Only a
 * tombstone's digest shows that they are an escrow's. See docs/protocol.md, "Archiving".
 */
export const archivedBytesOf = (
  { failed, instructions }: LedgerTransaction,
  { custodyProgram }: Deployment,
): ReadonlyArray<ArchivedBytes> => {
  if (failed) return [];
  return instructions.flatMap(({ program, accounts, data }) => {
    if (program !== custodyProgram || data === null) return [];
    const decoded = decodeCustodyInstruction(data);
    const escrow = accounts[PLACES.escrow.place];
    if (decoded?.name !== "archive_escrow" || escrow === undefined) return [];
    return [{ escrow, data: decoded.lastBytes }];
  });
};
