import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import type { Workflow } from "./arazzo-types.ts";

/** The terms of a payment. The examples are parties of the local ledger's demo data. */
const TERMS = {
  agent: {
    type: "string",
    description: "The agent's wallet, which pays and signs.",
    examples: ["6ZXSTsdHAiLihyoVJZ5py3cscgSd2qbogwRhkxUN1Wky"],
  },
  merchant: {
    type: "string",
    description: "The merchant's wallet.",
    examples: ["7ithf5tHzJMn92rtbAbfoqym3JADtusRecPGdQH3ioSE"],
  },
  mint: {
    type: "string",
    description: "The token's mint.",
    examples: ["CCWzfm4ELPVDYeaN79wB9xcnXrxe7SPm9uVCBPVptfAX"],
  },
  amount: {
    type: "string",
    pattern: "^[1-9][0-9]{0,19}$",
    description: "Base units, as a decimal string.",
    examples: ["1000000"],
  },
  task: {
    type: "string",
    description: "What is paid for, word for word.",
    examples: ["GET https://api.example.com/v1/quotes?symbol=SOL"],
  },
  payer: {
    type: "string",
    description: "Who pays the fee of the settlement and signs it; anyone.",
    examples: ["AsLYQnyJm7zCRuHcjRCf4A7jSVnVx1nfwvFzqeftKB87"],
  },
} as const;

/** The inputs of a workflow: the terms of a payment with these examples of what differs, and what only this workflow needs. */
export const workflowInputs = (
  examples: { readonly nonce: string; readonly ttlSeconds: number },
  more: Readonly<Record<string, object>> = {},
): Workflow["inputs"] => {
  const properties = {
    ...TERMS,
    nonce: {
      type: "string",
      description: "Names this payment. A new one for each payment; the same one to repeat a step.",
      examples: [examples.nonce],
    },
    ttlSeconds: {
      type: "integer",
      minimum: MIN_TTL_SECONDS,
      maximum: MAX_TTL_SECONDS,
      description: "Seconds until the payment can be refunded.",
      examples: [examples.ttlSeconds],
    },
    ...more,
  };
  return { type: "object", required: Object.keys(properties), properties };
};
