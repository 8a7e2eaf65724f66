import { describeTransaction } from "../../signing/describe-transaction.ts";
import { at, type ShownBy } from "../output.ts";
import { text } from "../parameter.ts";
import { ask } from "../ask.ts";
import { questionTo, tool } from "../tool.ts";
import { knownDeployment } from "../known-deployment.ts";

/** `relay_transaction`: sends a signed transaction once the person has agreed. */
export const relayTransaction = tool({
  name: "relay_transaction",
  description:
    "Sends a fully signed transaction after the person has confirmed it. The same bytes may be sent again; never send a key.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  parameters: { signed_transaction: text("base64") },
  output: {
    signature: "data.signature",
    status: at("data.status", "submitted: ask relay_outcome"),
  } satisfies ShownBy<"POST /v1/relay">,
  run: async ({ signed_transaction }, context) => {
    const isAgreed = (await context.sessions?.isAgreed(signed_transaction)) ?? false;
    const question = isAgreed
      ? null
      : questionTo(
          context,
          describeTransaction(signed_transaction, await knownDeployment(context)),
          'Let the person POST {"signed_transaction": …} to /v1/relay, or connect over stdio or with a client that elicits.',
        );
    if (question !== null) return { question };
    return {
      answer: await ask(context.call, "POST /v1/relay", { signed_transaction, confirm: true }),
    };
  },
});
