/**
 * The only claim that an attestor signs for an escrow. It is kept before anything is signed, together with the payload,
 * as the RFC 8785 text that was hashed.
 */
export type KeptClaim = {
  readonly version: 1;
  /** The genesis hash of the escrow's ledger. */
  readonly network: string;
  readonly escrow: string;
  readonly attestor: string;
  readonly proof_hash: string;
  /** Base units for the merchant, decimal; null for all of it. */
  readonly amount_stroops: string | null;
  readonly template_id: string | null;
  readonly payload: string;
};

/**
 * Where claims are kept. `keep` resolves with the first claim that was kept for the escrow: the given one, or an
 * earlier one. By then the claim survives a crash of the process or the machine. Of two calls at once exactly one is
 * first.
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
      const name = `${claim.network}/${claim.escrow}`;
      const first = kept.get(name) ?? claim;
      kept.set(name, first);
      return Promise.resolve(first);
    },
  };
};
