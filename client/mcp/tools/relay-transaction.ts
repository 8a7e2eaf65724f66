import { SettlementError } from "../../settlement-error.ts";
import { describeTransaction } from "../../signing/describe-transaction.ts";
import { aSignature, at, aWord } from "../output.ts";
import { text } from "../parameter.ts";
import { answerOf, tool } from "../tool.ts";
import { knownDeployment } from "../known-deployment.ts";

/** `relay_transaction`: sends a signed transaction once the person has agreed. */
export const relayTransaction = tool({
  name: "relay_transaction",
  description:
    "Sends a fully signed transaction after the person has confirmed it. The same bytes may be sent again; never send a key.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  parameters: { signed_transaction: text("base64") },
  output: {
    signature: at("data.signature", aSignature()),
    status: at("data.status", aWord("submitted: ask relay_outcome")),
  },
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
    const body = { signed_transaction, confirm: true };
    return { answer: await answerOf(call, "/v1/relay", { body }) };
  },
});
