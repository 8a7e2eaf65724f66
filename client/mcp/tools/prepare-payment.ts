import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import { knownDeployment } from "../known-deployment.ts";
import { heldTo, PREPARED } from "../output.ts";
import { address, optional, text, whole } from "../parameter.ts";
import { rebuiltPayment } from "../rebuilt.ts";
import { answerOf, tool } from "../tool.ts";

/** `prepare_payment`: the unsigned transaction that locks a payment in an escrow. */
export const preparePayment = tool({
  name: "prepare_payment",
  description:
    "Unsigned transaction that locks a payment for a merchant. Sends nothing. Decode and compare it with your terms before you sign.",
  parameters: {
    agent: address("Wallet that pays and signs"),
    merchant: address(),
    mint: address(),
    amount: text("Base units"),
    ttl_seconds: whole(MIN_TTL_SECONDS, MAX_TTL_SECONDS, "Then refundable"),
    task: text("What is paid for, word for word"),
    nonce: text("New for each payment, the same to repeat one: task and nonce make the escrow"),
    payer: optional(address("Of the fee; the agent by default")),
  },
  output: PREPARED,
  run: async (terms, context) => {
    const { call } = context;
    const { agent, merchant, mint, amount, ttl_seconds, task, nonce, payer } = terms;
    const prepared = await answerOf(call, "/v1/escrows/prepare?transaction=true", {
      body: {
        agent_owner: agent,
        merchant,
        mint,
        amount_stroops: amount,
        ttl_seconds,
        task_intent: task,
        nonce,
        ...(payer === undefined ? {} : { payer }),
      },
    });
    const told = heldTo(PREPARED, prepared);
    if (!context.rebuilds) return { result: told };
    const { policy } = await knownDeployment(context);
    return { result: rebuiltPayment(told, terms, policy) };
  },
});
