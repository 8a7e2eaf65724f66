import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import { CONTRACT_VERSION, SERVICE_NAME } from "../openapi/openapi-document.ts";
import { entityTag, isNotModified } from "../request/accept.ts";
import { jsonText } from "../server/declared-answer.ts";
import { endpoint } from "../server/endpoint.ts";
import { once } from "../server/once.ts";
import { ETAG_HEADER, NOT_MODIFIED } from "./markdown-pages.ts";
import {
  attest,
  landing,
  pinTrust,
  prepareCreate,
  prepareSettlement,
  readPacket,
  waitForExpiry,
  WORKFLOW_OUTPUTS,
} from "./workflow-steps.ts";

/** A condition on the answer; without a type it is a simple comparison (Arazzo 1.0.1, "Criterion Object"). */
type Criterion = {
  readonly condition: string;
  readonly context?: "$response.body";
  readonly type?: "jsonpath";
};

/** What happens after a step whose criteria do not hold. */
type FailureAction = { readonly name: string; readonly criteria: ReadonlyArray<Criterion> } & (
  | { readonly type: "retry"; readonly retryAfter: number; readonly retryLimit: number }
  | { readonly type: "goto"; readonly stepId: string }
  | { readonly type: "end" }
);

/** What someone's own keys sign once the step has succeeded; `SIGNING` defines each member. */
type Signing = {
  readonly type: "transaction" | "message";
  readonly value: string;
  readonly signers: string;
  readonly output: string;
  readonly check: string;
};

/** One call of an operation. */
export type Step = {
  readonly stepId: string;
  readonly description: string;
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<{
    readonly name: string;
    readonly in: "path" | "query";
    readonly value: string | boolean;
  }>;
  readonly requestBody?: {
    readonly contentType: "application/json";
    readonly payload: Readonly<Record<string, string | boolean>>;
  };
  readonly successCriteria: ReadonlyArray<Criterion>;
  readonly onFailure?: ReadonlyArray<FailureAction>;
  readonly outputs?: Readonly<Record<string, string>>;
  readonly "x-sign"?: Signing;
};

/** One life of an escrow, step by step. */
type Workflow = {
  readonly workflowId: string;
  readonly summary: string;
  readonly description: string;
  readonly inputs: {
    readonly type: "object";
    readonly required: ReadonlyArray<string>;
    readonly properties: Readonly<Record<string, object>>;
  };
  readonly steps: ReadonlyArray<Step>;
  readonly outputs: Readonly<Record<string, string>>;
};

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

/**
 * The inputs of a workflow: the terms of a payment with these examples of what differs, and what only this workflow
 * needs.
 */
const workflowInputs = (
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

/** An agent pays, the merchant's attestor signs a delivery, and the payment is released. */
const deliveredWorkflow: Workflow = {
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
const refundedWorkflow: Workflow = {
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

/** Where the document is. */
export const ARAZZO_PATH = "/arazzo.json";

const SIGNING = `The service holds no private key and takes none, so some steps have an extension, \`x-sign\`: once the step has succeeded,
the signers named in it sign on their own machine, and the step has one more output.

- \`type\`: \`transaction\` or \`message\`.
- \`value\`: a runtime expression for the base64 of what is signed: a Solana transaction with zeros in place of its signatures, or a message.
- \`signers\`: a runtime expression for the address, or the list of addresses, whose Ed25519 keys sign. Of a transaction the bytes after its signatures are signed; the order
  of the list is the order of the signatures.
- \`output\`: the name of the step's further output: the base64 of the transaction with all signatures, or of the message's one signature of 64 bytes.
- \`check\`: what the signer compares with their own terms before signing. What does not match is not signed.`;

/** The Arazzo document: both lives of a payment, as calls of this service's operations. */
type ArazzoDocument = {
  readonly arazzo: "1.0.1";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly sourceDescriptions: ReadonlyArray<{
    readonly name: string;
    readonly url: string;
    readonly type: "openapi";
  }>;
  readonly workflows: ReadonlyArray<Workflow>;
};

/** The document, which is the same for every deployment (Arazzo 1.0.1). */
const ARAZZO_DOCUMENT: ArazzoDocument = {
  arazzo: "1.0.1",
  info: {
    title: `${SERVICE_NAME}: the lives of a payment`,
    version: CONTRACT_VERSION,
    summary: "A payment that is released on a signed delivery claim, and one that is refunded.",
    description: SIGNING,
  },
  sourceDescriptions: [{ name: "service", url: "/openapi.json", type: "openapi" }],
  workflows: [deliveredWorkflow, refundedWorkflow],
};

const Part = Type.Object({}, { additionalProperties: true });

/** The members that every Arazzo document has. */
const Arazzo = Type.Object(
  {
    arazzo: Type.Literal("1.0.1"),
    info: Part,
    sourceDescriptions: Type.Array(Part),
    workflows: Type.Array(Part),
  },
  { title: "ArazzoDocument", additionalProperties: true },
);

const answer = once(() => {
  const text = jsonText(ARAZZO_DOCUMENT);
  return { text, headers: { etag: entityTag(text) } };
});

/** `GET /arazzo.json` */
export const arazzoEndpoint = endpoint({
  method: "GET",
  path: ARAZZO_PATH,
  operationId: "readArazzo",
  tag: "Service",
  summary: "Both lives of a payment, step by step, as Arazzo 1.0.1",
  description:
    "A payment that is released and one that is refunded, as calls of this contract's operations. Steps with `x-sign` need a signature from the caller's own keys; the document defines it.",
  budget: "reads",
  answers: {
    200: {
      description: "The Arazzo document.",
      content: {
        "application/json": {
          schema: Arazzo,
          example: () => ({ arazzo: "1.0.1", info: {}, sourceDescriptions: [], workflows: [] }),
        },
      },
      headers: ETAG_HEADER,
    },
    304: NOT_MODIFIED,
  },
  problems: [],
}).handle(({ headers: asked }) => {
  const { text, headers } = answer();
  return Effect.succeed(
    isNotModified(asked.get("if-none-match"), headers.etag)
      ? { status: 304 as const, text: null, headers }
      : { jsonText: text, headers },
  );
});
