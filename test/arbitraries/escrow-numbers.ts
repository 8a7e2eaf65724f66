import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import { associatedToken } from "../../core/protocol/addresses/addresses.ts";

/** An escrow with the bump of its vault, and the numbers of the first two events, or of the `n`th two. */
export const numbered = (
  escrow: Omit<Escrow, "vaultBump" | "createdSeq" | "settledSeq">,
  n = 0,
): Escrow => ({
  ...escrow,
  vaultBump: associatedToken(escrow.address, escrow.mint).bump,
  createdSeq: BigInt(2 * n + 1),
  settledSeq: escrow.state === "Pending" ? null : BigInt(2 * n + 2),
});

/** An escrow with the bump that its vault has by its address and mint. */
export const withVault = (escrow: Escrow): Escrow => ({
  ...escrow,
  vaultBump: associatedToken(escrow.address, escrow.mint).bump,
});
