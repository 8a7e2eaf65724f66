import { Effect } from "effect";
import { prepareEscrow } from "../../../core/use-cases/escrow/prepare-escrow.ts";
import { Instance } from "../../../ports/instance.ts";
import { preparedEscrowRecord } from "../records/prepared-escrow.ts";
import { sampleInstance } from "./sample-instance.ts";
import { SAMPLE, sampleParties } from "./sample-values.ts";

/** The body of the example request. */
export const prepareRequestExample = () => {
  const { agent, merchant, mint } = sampleParties();
  return {
    agent_owner: agent,
    merchant,
    mint,
    amount_stroops: SAMPLE.amount.toString(),
    ttl_seconds: SAMPLE.ttlSeconds,
    task_intent: SAMPLE.intent,
    nonce: SAMPLE.nonce,
  };
};

/** What the service answers to the example request. */
export const preparedEscrowExample = () => {
  const { agent, merchant, mint } = sampleParties();
  const prepared = prepareEscrow({
    agentOwner: agent,
    merchant,
    mint,
    amount: SAMPLE.amount.toString(),
    ttlSeconds: SAMPLE.ttlSeconds,
    taskIntent: SAMPLE.intent,
    nonce: SAMPLE.nonce,
  });
  return preparedEscrowRecord(
    Effect.runSync(Effect.provideService(prepared, Instance, sampleInstance())),
  );
};
