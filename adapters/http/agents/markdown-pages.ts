import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { readFileSync } from "node:fs";
import { DocumentationPageNotFound } from "../problems/http-failures.ts";
import { chooseForm, type CodedText, keptText, textAnswer } from "../server/coded-text.ts";
import { endpoint } from "../server/endpoint.ts";
import { once } from "../server/once.ts";
import { REFERENCE_PATH } from "./reference-markdown.ts";

/** The headers of an answer that can be revalidated, as the OpenAPI document names them. */
export const ETAG_HEADER = {
  etag: "Strong validator of the whole body in the coding that was answered.",
  vary: "The answer depends on `Accept-Encoding`.",
} as const;

/** The answer to `If-None-Match` with the validator of what would be answered. */
export const NOT_MODIFIED = {
  description: "The body is the one that `If-None-Match` names.",
  content: {},
  headers: { etag: "The body's validator.", vary: ETAG_HEADER.vary },
} as const;

const ROOT = new URL("../../../docs/", import.meta.url);

const page = (name: string, about: string) => ({
  path: `/docs/${name}.md`,
  about,
  markdown: once(() => keptText(readFileSync(new URL(`${name}.md`, ROOT), "utf8"))),
});

/** The repository's pages about the protocol and the service, by their file names, in the order to read them. */
export const DOCUMENTATION_PAGES = {
  "README.md": page("README", "Which page is whose."),
  "agents.md": page("agents", "From nothing to a verified packet, by x402, MCP and a wallet."),
  "http.md": page("http", "Every operation with a request and its answer."),
  "try-it.md": page("try-it", "Commands for every operation on the local ledger's demo data."),
  "settings.md": page("settings", "Every environment variable of the service and of a witness."),
  "commands.md": page("commands", "Every command with its options."),
  "prepare.md": page("prepare", "A whole life over HTTP, and what prepares each transaction."),
  "relay.md": page("relay", "What is sent for a client, what is refused, and what became of it."),
  "evidence.md": page("evidence", "What an attestor signs, and what a packet holds."),
  "protocol.md": page("protocol", "Addresses, layouts, instructions, hashes and attestations."),
  "reading.md": page("reading", "How the ledger is read and indexed, so that nothing is missed."),
  "verify-evidence.md": page("verify-evidence", "How a stranger checks a packet, by hand too."),
  "log.md": page("log", "The settlement log, its proofs and its witnesses."),
  "nodes.md": page("nodes", "What a node may do wrong, and what the service does then."),
  "deploy.md": page("deploy", "From nothing to a service on a cluster."),
  "operating.md": page("operating", "From an empty machine to service, database and alerts."),
  "metrics.md": page("metrics", "Every metric, and the alerts on them."),
  "runbook.md": page("runbook", "What each alert means, and what to do."),
  "keys.md": page("keys", "What signs, who may hold it, and how each key is rotated."),
  "backup.md": page("backup", "Backup and restore, and what a restored service does."),
  "webhooks.md": page("webhooks", "Settlement events that are sent to you, signed and in order."),
  "scale.md": page("scale", "What the service does when there are millions of escrows."),
  "sessions.md": page("sessions", "Many calls out of one escrow, for both sides."),
  "client.md": page("client", "The client package: its entries and commands."),
  "console.md": page("console", "The pages for people, and receipts that check themselves."),
  "mcp.md": page("mcp", "The service as a model's tools (MCP), over HTTP and stdio."),
  "merchant.md": page("merchant", "A merchant's commands, signers, and the attestor."),
  "wallets.md": page("wallets", "Links and QR codes that any wallet opens, and what it shows."),
  "x402.md": page(
    "x402",
    "x402's schemes `auth-capture` and `delivery-session`: for buyers, sellers and facilitators.",
  ),
  "pays-once.md": page(
    "pays-once",
    "How paying stays safe when anything is lost, and the test that any client can run.",
  ),
  "programs.md": page("programs", "The two on-chain programs and how they are built."),
  "local-ledger.md": page("local-ledger", "What the embedded ledger does and leaves out."),
  "releases.md": page(
    "releases",
    "What a release holds, how to check it, what a version promises.",
  ),
  "glossary.md": page("glossary", "One sentence a word."),
  "architecture.md": page("architecture", "Where things live and why."),
  "benchmarks.md": page("benchmarks", "What is fast, what is not yet."),
} as const;

/** The file name of a page. */
type DocumentationPage = keyof typeof DOCUMENTATION_PAGES;

/** Whether a text is the file name of a page. */
const isDocumentationPage = (name: string): name is DocumentationPage =>
  Object.hasOwn(DOCUMENTATION_PAGES, name);

const answers = {
  200: {
    description: "The page.",
    content: { "text/markdown": { schema: Type.String(), example: () => "# …" } },
    headers: ETAG_HEADER,
  },
  304: NOT_MODIFIED,
} as const;

/** `GET /docs.md`; `text` is made at its first use. */
export const referenceMarkdownEndpoint = (text: () => Promise<CodedText>) =>
  endpoint({
    method: "GET",
    path: REFERENCE_PATH,
    operationId: "readDocsMarkdown",
    tag: "Service",
    summary: "API reference in Markdown",
    description: "Every operation with its input, answers and problems.",
    budget: "reads",
    answers,
    problems: [],
  }).handle(({ headers }) =>
    Effect.map(Effect.promise(text), (markdown) => textAnswer(chooseForm(markdown, headers))),
  );

/** `GET /docs/{page}` */
export const documentationPageEndpoint = endpoint({
  method: "GET",
  path: "/docs/{page}",
  operationId: "readDocsPage",
  tag: "Service",
  summary: "A page of the documentation in Markdown",
  description: `The pages of this version: ${Object.keys(DOCUMENTATION_PAGES)
    .map((name) => `\`${name}\``)
    .join(", ")}.`,
  budget: "reads",
  params: {
    page: Type.String({ description: "The page's file name.", examples: ["protocol.md"] }),
  },
  answers,
  problems: ["route_not_found"],
}).handle(
  Effect.fnUntraced(function* ({ params: { page }, headers }) {
    if (!isDocumentationPage(page)) return yield* new DocumentationPageNotFound();
    return textAnswer(chooseForm(DOCUMENTATION_PAGES[page].markdown(), headers));
  }),
);
