import { SettlementError } from "../../settlement-error.ts";
import { describeTransaction } from "../../signing/describe-transaction.ts";
import { at, type ShownBy } from "../output.ts";
import { text } from "../parameter.ts";
import { ask } from "../ask.ts";
import { tool } from "../tool.ts";
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
    const { call, canAsk, consentTo } = context;
    const { subject, message } = describeTransaction(
      signed_transaction,
      await knownDeployment(context),
    );
    const consent = consentTo(subject);
    if (consent === "refused")
      throw new SettlementError(
        "not_confirmed",
        "The person did not confirm; nothing was sent.",
        "Call again only when they ask for it.",
      );
    if (consent === null) {
      if (canAsk) return { question: { message, subject } };
      throw new SettlementError(
        "cannot_ask",
        "This client cannot ask its person (elicitation) over this connection; nothing was sent.",
        'Let the person POST {"signed_transaction": …} to /v1/relay, or connect over stdio or with a client that elicits.',
      );
    }
    return { answer: await ask(call, "POST /v1/relay", { signed_transaction, confirm: true }) };
  },
});
