import { ask } from "../ask.ts";
import { at, atOrNull, aWordOrNull, memberOf, type ShownBy } from "../output.ts";
import { signature } from "../parameter.ts";
import { tool } from "../tool.ts";

/** `relay_outcome`: what became of a transaction. */
export const relayOutcome = tool({
  name: "relay_outcome",
  description:
    "What became of a transaction. Ask after any lost answer; sign again only if safe_to_sign_again.",
  parameters: { signature: signature() },
  output: {
    status: at("data.status", "landed, pending or expired"),
    commitment: atOrNull("data.commitment"),
    error: aWordOrNull("Why it failed"),
    safe_to_sign_again: "data.safe_to_sign_again",
    recreatable_escrow: atOrNull(
      "data.recreatable_escrow",
      "Its very creation may be signed again",
    ),
  } satisfies ShownBy<"GET /v1/relay/{signature}">,
  run: async (query, { call }) => {
    const answer = await ask(call, "GET /v1/relay/{signature}", query);
    const why = memberOf(answer, "data.program_error.name") ?? memberOf(answer, "data.error.kind");
    return { answer: { data: memberOf(answer, "data"), error: why ?? null } };
  },
});
