import { SERVICE_NAME } from "../openapi/service-version.ts";
import type { Endpoint } from "../server/endpoint.ts";
import { DOCUMENTATION_PAGES } from "./documentation-pages.ts";
import { operationAnchor } from "./operation-markdown.ts";
import { REFERENCE_PATH } from "./reference-markdown.ts";

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
 * The service for a language model (llmstxt.org): what it is, and links that each answer 200 without headers. Titles and texts are those
 * of the operations' declarations. @throws Error for an operation that is not declared.
 */
export const llmsText = (operations: ReadonlyArray<Endpoint>): string => {
  const named = (operationId: string): Endpoint => {
    const found = operations.find((operation) => operation.operationId === operationId);
    if (found === undefined) throw new Error(`no operation ${operationId}`);
    return found;
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
