import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { SERVICE_NAME } from "../openapi/openapi-document.ts";
import { chooseForm, type CodedText, textAnswer } from "../server/coded-text.ts";
import { type Endpoint, endpoint } from "../server/endpoint.ts";
import { DOCUMENTATION_PAGES, ETAG_HEADER, NOT_MODIFIED } from "./markdown-pages.ts";
import { operationAnchor, REFERENCE_PATH } from "./reference-markdown.ts";

/** What an agent calls, in the order of a payment's life. */
const CALLED = [
  "prepareEscrow",
  "relayTransaction",
  "readRelayOutcome",
  "readEscrow",
  "prepareAttestation",
  "prepareRelease",
  "prepareRefund",
  "buildEvidence",
  "verifyDelivery",
  "callMcp",
] as const;

/** What an agent fetches. */
const FETCHED = [
  "readArazzo",
  "readOpenApi",
  "readClientPackage",
  "readEvidenceTrust",
  "readActionsJson",
  "readRelayPolicy",
  "listProofTemplates",
  "readStatus",
] as const;

/** Pages that an agent may leave out when its context is short. */
const OPTIONAL = new Set([
  "scale.md",
  "programs.md",
  "local-ledger.md",
  "architecture.md",
  "benchmarks.md",
]);

const link = (title: string, target: string, about: string): string =>
  `- [${title}](${target}): ${about}`;

/**
 * The service for a language model (llmstxt.org): what it is, and links that each answer 200 without headers. Titles
 * and texts are those of the operations' declarations. @throws Error for an operation that is not declared.
 */
export const llmsText = (operations: ReadonlyArray<Endpoint>): string => {
  const named = (operationId: string): Endpoint => {
    const endpoint = operations.find((operation) => operation.operationId === operationId);
    if (endpoint === undefined) throw new Error(`no operation ${operationId}`);
    return endpoint;
  };
  const called = CALLED.map(named).map((operation) =>
    link(
      `${operation.method} ${operation.path}`,
      `${REFERENCE_PATH}#${operationAnchor(operation)}`,
      `${operation.summary}.`,
    ),
  );
  const fetched = FETCHED.map(named).map(({ path, summary }) => link(path, path, `${summary}.`));
  const pages = Object.entries(DOCUMENTATION_PAGES).map(([name, { path, about }]) => ({
    isOptional: OPTIONAL.has(name),
    line: link(name, path, about),
  }));
  const linesOf = (isOptional: boolean): ReadonlyArray<string> =>
    pages.filter((page) => page.isOptional === isOptional).map(({ line }) => line);
  return `# ${SERVICE_NAME}

> An agent locks a payment in an escrow on Solana. A claim that the merchant's attestor signed releases it; without one it goes back after the deadline.
> For every escrow there is an evidence packet that anyone can verify offline.

- Never send a private key. The service prepares unsigned transactions; sign them on your own machine, and only after comparing them with your own terms.
- After a timeout or a lost answer ask for the outcome. Sign a payment again only when \`safe_to_sign_again\` is true.
- Every error is a problem document (RFC 9457). Its \`cure\` says what to do; \`type\` with \`.md\` behind it is its page in Markdown.
- Obtain the trust document before the packet and verify offline: \`import { verifyEvidence } from "settlement-evidence"\`, from the client package.

## Operations

${called.join("\n")}

## Files

${fetched.join("\n")}

## Documentation

${[
  link(REFERENCE_PATH, REFERENCE_PATH, "Every operation with its input, answers and problems."),
  link(
    "wrong_state",
    "/problems/wrong_state.md",
    "What a problem page looks like; each code has one.",
  ),
  ...linesOf(false),
].join("\n")}

## Optional

${linesOf(true).join("\n")}
`;
};

/** Where a language model begins to read. */
export const LLMS_PATH = "/llms.txt";

/** `GET /llms.txt`; `text` is made at its first use. */
export const llmsEndpoint = (text: () => CodedText) =>
  endpoint({
    method: "GET",
    path: LLMS_PATH,
    operationId: "readLlms",
    tag: "Service",
    summary: "The service for a language model",
    description: "What an agent needs, with links, in the form of llmstxt.org.",
    budget: "reads",
    answers: {
      200: {
        description: "The text, in Markdown.",
        content: {
          "text/markdown": { schema: Type.String(), example: () => "# …" },
          "text/plain": { schema: Type.String(), example: () => "# …" },
        },
        headers: { ...ETAG_HEADER, vary: "The answer depends on `Accept` and `Accept-Encoding`." },
      },
      304: NOT_MODIFIED,
    },
    problems: [],
  }).handle(({ headers }) => Effect.succeed(textAnswer(chooseForm(text(), headers, "accept"))));
