import type { Escrow, Tombstone } from "./account.ts";

const known = new Map<string, Escrow>();

/** Keeps what an archived escrow was, as anybody who watches the ledger can. */
export const remember = ({ lastHash }: Tombstone, escrow: Escrow): void => {
  known.set(lastHash, escrow);
};

/** What an archived escrow was; undefined for one that was never met. */
export const lastBytesOf = ({ lastHash }: Tombstone): Escrow | undefined => known.get(lastHash);
