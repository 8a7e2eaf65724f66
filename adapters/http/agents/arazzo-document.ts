import { CONTRACT_VERSION, SERVICE_NAME } from "../openapi/service-version.ts";
import type { Workflow } from "./arazzo-types.ts";
import { deliveredWorkflow, refundedWorkflow } from "./workflows.ts";

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
export type ArazzoDocument = {
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
export const ARAZZO_DOCUMENT: ArazzoDocument = {
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
