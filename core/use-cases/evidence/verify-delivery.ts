import { Effect } from "effect";
import { canonicalFault, type Json } from "../../domain/encoding/canonical-json.ts";
import { compareWithTemplate, type FieldResult } from "../../domain/evidence/delivery-payload.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import { proofHash } from "../../domain/evidence/proof-template.ts";
import { readProofTemplate } from "./proof-templates.ts";
import { type LiveEscrow, readEscrow } from "../escrow/read-escrow.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";
import { ValidationFailed } from "../request-errors.ts";

/** A delivery payload, and the template to compare it with. */
export type DeliveryToVerify = {
  /** The delivery payload, whose hash is the proof hash. */
  readonly payload: { readonly [name: string]: Json };
  /** Defaults to the payload's own `proof_template_id` if that is a text. */
  readonly templateId?: string | undefined;
};

/** How a delivery payload compares with an escrow. */
export type DeliveryComparison = {
  /** The escrow as the ledger shows it at `slot`. */
  readonly live: LiveEscrow;
  /** SHA-256 of the payload's RFC 8785 bytes. */
  readonly computedProofHash: Hash32;
  /** The escrow's proof hash, null until it is released. */
  readonly escrowProofHash: Hash32 | null;
  /** Null until the escrow has a proof hash. */
  readonly matches: boolean | null;
  /** Whether the payload names the escrow's task hash; null when it names none. */
  readonly taskHashBound: boolean | null;
  /** Whether the payload names the genesis hash of the escrow's ledger; null when it names none. */
  readonly networkBound: boolean | null;
  /** Null when no template was named. */
  readonly template: {
    readonly id: string;
    readonly valid: boolean;
    readonly fields: ReadonlyArray<FieldResult>;
  } | null;
};

/**
 * Compares a delivery payload with an escrow's proof hash and task hash, and with a proof template. Fails like
 * `readEscrow`, with `ProofTemplateNotFound` for a requested template that is unknown, and with `ValidationFailed` for
 * a payload without exact RFC 8785 bytes. See docs/evidence.md, "Proof hash".
 */
export const verifyDelivery = Effect.fn("verifyDelivery")(function* (
  pda: string,
  { payload, templateId }: DeliveryToVerify,
) {
  const fault = canonicalFault(payload);
  if (fault !== undefined)
    return yield* new ValidationFailed([
      { field: "payload", inside: fault.pointer, detail: fault.detail },
    ]);
  const named = payload["proof_template_id"];
  const id = templateId ?? (typeof named === "string" ? named : undefined);
  const templateRead = id === undefined ? undefined : readProofTemplate(id);
  const template =
    templateRead === undefined
      ? null
      : yield* templateId === undefined
          ? Effect.orElseSucceed(templateRead, () => null)
          : templateRead;
  const live = yield* readEscrow(pda, "confirmed");
  const { escrow } = live;
  const fields = template === null ? [] : compareWithTemplate(payload, template);
  const computedProofHash = proofHash(payload);
  const escrowProofHash = escrow.attestation?.proofHash ?? null;
  const taskHash = payload["task_hash"];
  const network = payload["network"];
  const networkBound =
    network === undefined ? null : network === (yield* (yield* Ledger).genesisHash);
  const comparison: DeliveryComparison = {
    live,
    computedProofHash,
    escrowProofHash,
    matches: escrowProofHash === null ? null : escrowProofHash === computedProofHash,
    taskHashBound: taskHash === undefined ? null : taskHash === escrow.taskHash,
    networkBound,
    template:
      template === null
        ? null
        : {
            id: template.id,
            valid: fields.every(({ outcome }) => outcome === "ok" || outcome === "absent"),
            fields,
          },
  };
  return comparison;
});
