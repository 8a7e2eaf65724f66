import { aFlag, anAddress, at, aWord, maybe, memberOf } from "../output.ts";
import { signature } from "../parameter.ts";
import { answerOf, tool } from "../tool.ts";

/** `relay_outcome`: what became of a transaction. */
export const relayOutcome = tool({
  name: "relay_outcome",
  description:
    "What became of a transaction. Ask after any lost answer; sign again only if safe_to_sign_again.",
  parameters: { signature: signature() },
  output: {
    status: at("data.status", aWord("landed, pending or expired")),
    commitment: at("data.commitment", maybe(aWord())),
    error: maybe(aWord("Why it failed")),
    safe_to_sign_again: at("data.safe_to_sign_again", aFlag()),
    recreatable_escrow: at(
      "data.recreatable_escrow",
      maybe(anAddress("Its very creation may be signed again")),
    ),
  },
  run: async ({ signature: asked }, { call }) => {
    const answer = await answerOf(call, `/v1/relay/${asked}`);
    const why = memberOf(answer, "data.program_error.name") ?? memberOf(answer, "data.error.kind");
    return { answer: { data: memberOf(answer, "data"), error: why ?? null } };
  },
});
