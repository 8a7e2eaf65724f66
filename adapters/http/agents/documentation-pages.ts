import { readFileSync } from "node:fs";
import { once } from "../server/once.ts";

const ROOT = new URL("../../../docs/", import.meta.url);

const page = (name: string, about: string) => ({
  path: `/docs/${name}.md`,
  about,
  markdown: once(() => readFileSync(new URL(`${name}.md`, ROOT), "utf8")),
});

/** The repository's pages about the protocol and the service, by their file names, in the order to read them. */
export const DOCUMENTATION_PAGES = {
  "README.md": page("README", "Which page is whose."),
  "agents.md": page("agents", "From nothing to a verified packet, by x402, MCP and a wallet."),
  "http.md": page("http", "Every operation with a request and its answer."),
  "try-it.md": page("try-it", "Commands for every operation on the local ledger's demo data."),
  "settings.md": page("settings", "Every environment variable of the service and of a witness."),
  "commands.md": page("commands", "Every command with its options."),
  "protocol.md": page(
    "protocol",
    "Addresses, layouts, hashes, attestations, evidence, and a whole life over HTTP.",
  ),
  "verify-evidence.md": page("verify-evidence", "How a stranger checks a packet, by hand too."),
  "log.md": page("log", "The settlement log, its proofs and its witnesses."),
  "nodes.md": page("nodes", "What a node may do wrong, and what the service does then."),
  "deploy.md": page("deploy", "From nothing to a service on a cluster."),
  "scale.md": page("scale", "What the service does when there are millions of escrows."),
  "client.md": page("client", "The client package: its entries and commands."),
  "mcp.md": page("mcp", "The service as a model's tools (MCP), over HTTP and stdio."),
  "merchant.md": page("merchant", "A merchant's commands, signers, and the attestor."),
  "wallets.md": page("wallets", "Links and QR codes that any wallet opens, and what it shows."),
  "x402-escrow-svm.md": page(
    "x402-escrow-svm",
    "The x402 scheme `escrow` on Solana: for buyers, sellers and facilitators.",
  ),
  "pays-once.md": page(
    "pays-once",
    "How paying stays safe when anything is lost, and the test that any client can run.",
  ),
  "programs.md": page("programs", "The two on-chain programs and how they are built."),
  "local-ledger.md": page("local-ledger", "What the embedded ledger does and leaves out."),
  "glossary.md": page("glossary", "One sentence a word."),
  "architecture.md": page("architecture", "Where things live and why."),
  "benchmarks.md": page("benchmarks", "What is fast, what is not yet."),
} as const;

/** The file name of a page. */
export type DocumentationPage = keyof typeof DOCUMENTATION_PAGES;

/** Whether a text is the file name of a page. */
export const isDocumentationPage = (name: string): name is DocumentationPage =>
  Object.hasOwn(DOCUMENTATION_PAGES, name);
