import { MAX_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import type { Workflow } from "./arazzo-types.ts";
import { workflowInputs } from "./workflow-inputs.ts";
import {
  attest,
  landing,
  WORKFLOW_OUTPUTS,
  pinTrust,
  prepareCreate,
  prepareSettlement,
  readPacket,
  waitForExpiry,
} from "./workflow-steps.ts";

/** An agent pays, the merchant's attestor signs a delivery, and the payment is released. */
export const deliveredWorkflow: Workflow = {
  workflowId: "delivered",
  summary: "A payment that is released",
  description:
    "The agent locks a payment, the merchant's attestor signs a delivery claim, anyone releases the payment with it, and both hold a packet that a stranger can verify.",
  inputs: workflowInputs(
    { nonce: "arazzo-delivered", ttlSeconds: 3600 },
    {
      proofHash: {
        type: "string",
        pattern: "^[0-9a-f]{64}$",
        description: "SHA-256 of the RFC 8785 bytes of what was delivered, in hex.",
        examples: ["59da1841677c30024d775c9d2e5a74f400a143d891581c473d8b7e344c38b932"],
      },
    },
  ),
  steps: [
    pinTrust,
    prepareCreate,
    ...landing("Create", "prepareCreate"),
    attest,
    prepareSettlement(
      "prepareRelease",
      "Get the transaction that pays the merchant, and sign it as the payer.",
      "prepareRelease",
      {
        proof_hash: "$inputs.proofHash",
        timestamp: "$steps.attest.outputs.timestamp",
        attestation_signature: "$steps.attest.outputs.signature",
      },
    ),
    ...landing("Release", "prepareRelease"),
    readPacket("released"),
  ],
  outputs: WORKFLOW_OUTPUTS,
};

/** An agent pays, nobody delivers, and the agent has the payment back. */
export const refundedWorkflow: Workflow = {
  workflowId: "refunded",
  summary: "A payment that goes back",
  description:
    "The agent locks a payment, no claim arrives before the deadline, anyone sends the money back to the agent, and both hold a packet that a stranger can verify.",
  inputs: workflowInputs({ nonce: "arazzo-refunded", ttlSeconds: 2 }),
  steps: [
    pinTrust,
    prepareCreate,
    ...landing("Create", "prepareCreate"),
    waitForExpiry(MAX_TTL_SECONDS),
    prepareSettlement(
      "prepareRefund",
      "Get the transaction that pays the agent back, and sign it as the payer.",
      "prepareRefund",
      {},
    ),
    ...landing("Refund", "prepareRefund"),
    readPacket("refunded"),
  ],
  outputs: WORKFLOW_OUTPUTS,
};
