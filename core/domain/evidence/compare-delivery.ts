import type { Json } from "../encoding/canonical-json.ts";
import type { Escrow } from "../escrow/escrow.ts";
import type { Hash32 } from "../hash32.ts";
import { compareWithTemplate, type FieldResult } from "./delivery-payload.ts";
import { proofHash, type ProofTemplate } from "./proof-template.ts";

/** How a delivery payload compares with an escrow. */
export type PayloadComparison = {
  /** SHA-256 of the payload's RFC 8785 bytes. */
  readonly computedProofHash: Hash32;
  /** The escrow's proof hash, null until it is released. */
  readonly escrowProofHash: Hash32 | null;
  /** Null until the escrow has a proof hash. */
  readonly matches: boolean | null;
  /** Whether the payload names the escrow's task hash; null when it names none. */
  readonly taskHashBound: boolean | null;
  /** Null when no template was given. */
  readonly template: {
    readonly id: string;
    readonly valid: boolean;
    readonly fields: ReadonlyArray<FieldResult>;
  } | null;
};

/**
 * Compares a payload with an escrow's proof hash and task hash, and with a template. The payload must have exact
 * RFC 8785 bytes (`canonicalFault`). See docs/evidence.md, "Proof hash".
 */
export const comparePayload = (
  payload: { readonly [name: string]: Json },
  escrow: Pick<Escrow, "attestation" | "taskHash">,
  template: ProofTemplate | null,
): PayloadComparison => {
  const computedProofHash = proofHash(payload);
  const escrowProofHash = escrow.attestation?.proofHash ?? null;
  const taskHash = payload["task_hash"];
  const fields = template === null ? [] : compareWithTemplate(payload, template);
  return {
    computedProofHash,
    escrowProofHash,
    matches: escrowProofHash === null ? null : escrowProofHash === computedProofHash,
    taskHashBound: taskHash === undefined ? null : taskHash === escrow.taskHash,
    template:
      template === null
        ? null
        : {
            id: template.id,
            valid: fields.every(({ outcome }) => outcome === "ok" || outcome === "absent"),
            fields,
          },
  };
};
