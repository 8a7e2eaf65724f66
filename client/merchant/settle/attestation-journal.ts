/**
 * The newest claim that an attestor stands by for an escrow, kept before anything is signed. The claim of a single
 * payment is its final one. The payload is kept as the RFC 8785 text that was hashed, so that it is not lost either.
 */
export type KeptClaim = {
  /** The protocol's. */
  readonly version: 3;
  /** The genesis hash of the escrow's ledger. */
  readonly network: string;
  readonly escrow: string;
  /** What signatures name of the escrow, 64 hex digits: claims are kept by it. */
  readonly terms: string;
  readonly attestor: string;
  readonly proof_hash: string;
  /** Base units for the merchant, decimal. */
  readonly total: string;
  readonly deliveries: number;
  /** Whether no other claim may follow. */
  readonly final: boolean;
  readonly template_id: string | null;
  readonly payload: string;
};

/**
 * Where claims are kept. `keep` resolves with the claim that stands for the terms: the given one, or the final one that
 * was kept first. When it resolves, the claim would survive the end of the process and of the machine; of two at once
 * exactly one is first.
 */
export type AttestationJournal = {
  readonly keep: (claim: KeptClaim) => Promise<KeptClaim>;
};

/**
 * A journal that ends with the process.
 * @example
 * import { memoryAttestations } from "settlement-evidence/merchant";
 *
 * const journal = memoryAttestations();
 * await journal.keep(claim); // => claim
 * await journal.keep({ ...claim, payload: "another" }); // => claim
 */
export const memoryAttestations = (): AttestationJournal => {
  const kept = new Map<string, KeptClaim>();
  return {
    keep: (claim) => {
      const name = `${claim.network}/${claim.terms}`;
      const first = kept.get(name) ?? claim;
      kept.set(name, first);
      return Promise.resolve(first);
    },
  };
};
