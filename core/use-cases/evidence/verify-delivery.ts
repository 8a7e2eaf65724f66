import { Effect } from "effect";
import { canonicalFault, type Json } from "../../domain/encoding/canonical-json.ts";
import { comparePayload, type PayloadComparison } from "../../domain/evidence/compare-delivery.ts";
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

/** How a delivery payload compares with an escrow that was read. */
export type DeliveryComparison = PayloadComparison & {
  /** The escrow as the ledger shows it at `slot`. */
  readonly live: LiveEscrow;
  /** Whether the payload names the genesis hash of the escrow's ledger; null when it names none. */
  readonly networkBound: boolean | null;
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
  const network = payload["network"];
  const networkBound =
    network === undefined ? null : network === (yield* (yield* Ledger).genesisHash);
  const comparison: DeliveryComparison = {
    ...comparePayload(payload, live.escrow, template),
    live,
    networkBound,
  };
  return comparison;
});
