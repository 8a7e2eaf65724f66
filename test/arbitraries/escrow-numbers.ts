import type { Escrow, SettledBy } from "../../core/domain/escrow/escrow.ts";
import { associatedToken } from "../../core/protocol/addresses/addresses.ts";

/** What a single payment has in place of a session's, unless a test says otherwise. */
type OfSession = Pick<Escrow, "sessionKey" | "deliveries" | "settledBy" | "closesAt">;
type Bare = Omit<Escrow, "vaultBump" | "createdSeq" | "settledSeq" | keyof OfSession>;

/** How a single payment was settled: a refund waits for the end, and only the merchant gives money back before. */
const settledByOf = ({ state, released, settledAt, expiresAt }: Bare): SettledBy => {
  if (state === "Pending" || settledAt === null) return null;
  if (released > 0n) return "release";
  return settledAt >= expiresAt ? "refund" : "cancel";
};

/**
 * A single payment's escrow with the bump of its vault, and the numbers of the first two events, or of the `n`th two.
 */
export const numbered = (escrow: Bare & Partial<OfSession>, n = 0): Escrow => ({
  sessionKey: null,
  deliveries: escrow.released > 0n ? 1 : 0,
  settledBy: settledByOf(escrow),
  closesAt: null,
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
