import type { RelayOutcome } from "../../generated/contract.ts";
import { aFlag, aText, maybeText } from "../output.ts";
import { signature } from "../parameter.ts";
import { dataOf, tool } from "../tool.ts";

/** `relay_outcome`: what became of a transaction. */
export const relayOutcome = tool({
  name: "relay_outcome",
  description:
    "What became of a transaction. Ask after any lost answer; sign again only if safe_to_sign_again.",
  parameters: { signature: signature() },
  output: {
    status: aText("landed, pending or expired"),
    commitment: maybeText(),
    error: maybeText("Why it failed"),
    safe_to_sign_again: aFlag(),
    recreatable_escrow: maybeText("Its very creation may be signed again"),
  },
  run: async ({ signature: asked }, { call }) => {
    const found = await dataOf<RelayOutcome>(call, `/v1/relay/${asked}`);
    return {
      result: {
        status: found.status,
        commitment: found.commitment,
        error: found.program_error?.name ?? found.error?.kind ?? null,
        safe_to_sign_again: found.safe_to_sign_again,
        recreatable_escrow: found.recreatable_escrow,
      },
    };
  },
});
