import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { aFlag, aHash, anAddress, at, aWord, heldTo, maybe } from "../output.ts";
import { address, anyObject, optional, text } from "../parameter.ts";
import { jsonOf, problemOf } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import { answerOf, tool } from "../tool.ts";

const ESCROW = at("data.escrow.escrow_pda", anAddress());
const STATED = {
  decision: at("data.settlement_decision.status", aWord("pending, released or refunded")),
  reason: at("data.settlement_decision.reason", aWord()),
  digest_sha256: at("signature.digest_sha256", aHash()),
};

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
    ...STATED,
    packet: aWord("Resource URI"),
    verdict: aWord("Under the trust document pinned here"),
    matches: aFlag("Whether payload is what was attested"),
  },
  maybe: ["verdict", "matches"],
  run: async ({ escrow, payload, template_id }, { call, trust }) => {
    const answer = await call(`/v1/evidence/${escrow}`, {
      headers: { accept: "application/json" },
    });
    if (answer.status !== 200) throw problemOf(answer);
    const { escrow: found, ...stated } = heldTo({ escrow: ESCROW, ...STATED }, jsonOf(answer));
    // A packet of another escrow verifies just as well.
    if (found !== escrow)
      throw new SettlementError(
        "another_escrow",
        `The service gave the evidence of ${found}.`,
        "Believe nothing of it, and ask another service.",
      );
    const compared =
      payload === undefined
        ? null
        : heldTo(
            { matches: at("data.matches", maybe(aFlag())) },
            await answerOf(call, `/v1/evidence/${escrow}/verify`, {
              body: { payload, ...(template_id === undefined ? {} : { template_id }) },
            }),
          );
    const packet = `settlement://evidence/${escrow}`;
    return {
      result: {
        ...stated,
        packet,
        ...(trust === null ? {} : { verdict: verifyEvidence(answer.text, trust).verdict }),
        ...(compared === null || compared.matches === null ? {} : { matches: compared.matches }),
      },
      links: [{ uri: packet, name: "The evidence packet" }],
    };
  },
});
