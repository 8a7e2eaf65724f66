import type { DeliveryComparison } from "../../../core/use-cases/evidence/verify-delivery.ts";
import type { DeliveryComparisonRecord } from "../schemas/delivery.ts";

const meaningOf = (matches: boolean | null): string => {
  if (matches === null)
    return "The escrow has no proof hash: nothing was attested, so there is nothing to compare with.";
  return matches
    ? "This is the payload whose hash the merchant's attestor signed. Whether what it says is true, no hash can show."
    : "This is not the payload whose hash the merchant's attestor signed.";
};

/** A comparison of a delivery payload with an escrow as JSON. */
export const deliveryRecord = (
  comparison: Omit<DeliveryComparison, "live"> & {
    readonly live: Pick<DeliveryComparison["live"], "escrow">;
  },
): DeliveryComparisonRecord => {
  const { live, matches, template } = comparison;
  return {
    escrow_pda: live.escrow.address,
    state: live.escrow.state,
    matches,
    meaning: meaningOf(matches),
    payload_proof_hash: comparison.computedProofHash,
    escrow_proof_hash: comparison.escrowProofHash,
    task_hash_bound: comparison.taskHashBound,
    escrow_task_hash: live.escrow.taskHash,
    template:
      template === null
        ? null
        : { id: template.id, valid: template.valid, fields: [...template.fields] },
  };
};
