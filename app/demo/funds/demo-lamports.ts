/**
 * Lamports that each party of the demo begins with, beside what its accounts cost: deposits and fees of two escrows for the agent, of
 * a merchant account and a token account for the merchant, fees for the passer-by. None may fall below the rent of an empty account.
 */
export const PARTY_LAMPORTS = {
  agent: 16_000_000n,
  merchant: 10_000_000n,
  passerBy: 3_000_000n,
} as const;

/** Lamports that a payer of the demo must have: those, two token accounts, and fees. */
export const DEMO_LAMPORTS = 34_000_000n;
