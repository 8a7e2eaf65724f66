import { Effect } from "effect";
import { prepareEscrow } from "../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { Instance } from "../../../ports/instance.ts";
import { sampleInstance } from "./sample-instance.ts";
import { SAMPLE, sampleParties } from "./sample-values.ts";

/** The sample escrow as it is prepared. */
export const samplePreparedEscrow = () => {
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
  return Effect.runSync(Effect.provideService(prepared, Instance, sampleInstance()));
};
