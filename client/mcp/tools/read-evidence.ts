import type { DeliveryComparison, EvidencePacket } from "../../generated/contract.ts";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { aFlag, aText } from "../output.ts";
import { address, anyObject, optional, text } from "../parameter.ts";
import { jsonOf, problemOf } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import { shown } from "../shown.ts";
import { dataOf, tool } from "../tool.ts";

/** `read_evidence`: what the evidence packet of an escrow says, and where the packet is. */
export const readEvidence = tool({
  name: "read_evidence",
  description:
    "What an escrow's evidence says; the packet is a resource. Verify it offline under a trust document of your own. With payload, compares what you got with what was attested.",
  parameters: {
    escrow: address(),
    payload: optional(anyObject()),
    template_id: optional(text()),
  },
  output: {
    decision: aText("pending, released or refunded"),
    reason: aText(),
    digest_sha256: aText(),
    packet: aText("Resource URI"),
    verdict: aText("Under the trust document pinned here"),
    matches: aFlag("Whether payload is what was attested"),
  },
  maybe: ["verdict", "matches"],
  run: async ({ escrow, payload, template_id }, { call, trust }) => {
    const answer = await call(`/v1/evidence/${escrow}`, {
      headers: { accept: "application/json" },
    });
    if (answer.status !== 200) throw problemOf(answer);
    const { data, signature } = jsonOf(answer) as EvidencePacket;
    // A packet of another escrow verifies just as well.
    const { escrow_pda: found } = data.escrow;
    if (found !== escrow)
      throw new SettlementError(
        "another_escrow",
        `The service gave the evidence of ${shown(found)}.`,
        "Believe nothing of it, and ask another service.",
      );
    const { status, reason } = data.settlement_decision;
    const compared =
      payload === undefined
        ? null
        : await dataOf<DeliveryComparison>(call, `/v1/evidence/${escrow}/verify`, {
            body: { payload, ...(template_id === undefined ? {} : { template_id }) },
          });
    const packet = `settlement://evidence/${escrow}`;
    return {
      result: {
        decision: status,
        reason,
        digest_sha256: signature.digest_sha256,
        packet,
        ...(trust === null ? {} : { verdict: verifyEvidence(answer.text, trust).verdict }),
        ...(compared === null || compared.matches === null ? {} : { matches: compared.matches }),
      },
      links: [{ uri: packet, name: "The evidence packet" }],
    };
  },
});
