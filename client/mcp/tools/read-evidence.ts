import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { requestOf } from "../../service/operation.ts";
import { jsonOf, problemOf } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import { ask } from "../ask.ts";
import { aFlag, at, atOrNull, aWord, heldTo, type ShownBy } from "../output.ts";
import { address, anyObject, optional, text } from "../parameter.ts";
import { tool } from "../tool.ts";

const STATED = {
  decision: at("data.settlement_decision.status", "pending, released or refunded"),
  reason: "data.settlement_decision.reason",
  digest_sha256: "signature.digest_sha256",
} as const satisfies ShownBy<"GET /v1/evidence/{pda}">;
const ABOUT = {
  escrow: "data.escrow.escrow_pda",
  ...STATED,
} as const satisfies ShownBy<"GET /v1/evidence/{pda}">;
const COMPARED = {
  matches: atOrNull("data.matches"),
} as const satisfies ShownBy<"POST /v1/evidence/{pda}/verify">;

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
    const headers = { accept: "application/json" };
    const answer = await call(...requestOf("GET /v1/evidence/{pda}", { pda: escrow }, { headers }));
    if (answer.status !== 200) throw problemOf(answer);
    const { escrow: found, ...stated } = heldTo(ABOUT, jsonOf(answer));
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
            COMPARED,
            await ask(call, "POST /v1/evidence/{pda}/verify", {
              pda: escrow,
              payload,
              ...(template_id === undefined ? {} : { template_id }),
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
