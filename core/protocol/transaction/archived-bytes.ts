import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { LedgerTransaction } from "../../domain/ledger/history.ts";
import { readCall } from "../instructions/program-call.ts";

/** Account bytes that a transaction gave to `archive_escrow`, and the escrow it named. */
export type ArchivedBytes = { readonly escrow: Address; readonly data: Uint8Array };

/**
 * The account bytes in a transaction's `archive_escrow` instructions, at its top level and in instructions that programs called. Only a
 * tombstone's digest shows that they are an escrow's. See docs/protocol.md, "Archiving".
 */
export const archivedBytesOf = (
  { failed, instructions }: LedgerTransaction,
  deployment: Deployment,
): ReadonlyArray<ArchivedBytes> => {
  if (failed) return [];
  return instructions.flatMap((called) => {
    const read = readCall(called, deployment);
    if (read?.name !== "archive_escrow") return [];
    const escrow = read.at("escrow");
    return escrow === undefined ? [] : [{ escrow, data: read.args.lastBytes }];
  });
};
