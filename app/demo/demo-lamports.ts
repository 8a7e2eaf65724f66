/** Lamports that the demo takes along for its parties: deposits of two escrows, a merchant and four token accounts, and fees. */
export const DEMO_LAMPORTS = 60_000_000n;
