import { compareWithTemplate } from "../../../core/domain/evidence/delivery-payload.ts";
import { proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { PROOF_TEMPLATES } from "../../../core/domain/evidence/proof-template-catalogue.ts";
import { deliveryRecord } from "../records/delivery.ts";
import { sampleEscrow } from "../openapi/sample-values.ts";

const samplePayload = () => ({
  ...PROOF_TEMPLATES[0]?.example,
  task_hash: sampleEscrow().taskHash as string,
});

/** The payload that the sample escrow's attestor signed the hash of. */
export const verifyDeliveryExample = () => ({ payload: samplePayload() });

/** What the service says of it. */
export const deliveryExample = () => {
  const [template] = PROOF_TEMPLATES;
  const escrow = sampleEscrow();
  const hash = proofHash(samplePayload());
  return deliveryRecord({
    live: { escrow },
    computedProofHash: hash,
    escrowProofHash: escrow.attestation?.proofHash ?? null,
    matches: escrow.attestation?.proofHash === hash,
    taskHashBound: true,
    template:
      template === undefined
        ? null
        : { id: template.id, valid: true, fields: compareWithTemplate(samplePayload(), template) },
  });
};
