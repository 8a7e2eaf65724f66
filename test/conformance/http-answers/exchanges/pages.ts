import { PROBLEM_CODES } from "../../../../adapters/http/problems/problem-catalogue.ts";
import { type Exchange, get } from "../exchange.ts";
import { FULFILLED } from "../world/escrows.ts";
import { AGENT } from "../world/parties.ts";

/** Headers that depend on a body that is not recorded. */
export const UNRECORDED_TEXT = [
  [/"[\w-]{43}"/g, '"<the validator>"'],
  [/content-length: \d+/g, "content-length: <its length>"],
] as const;

const HTML = { headers: { accept: "text/html,application/xhtml+xml,*/*;q=0.8" } };

const MARKDOWN = { headers: { accept: "text/markdown" } };

/** The headings of a page that is made from the recorded document. */
const headings = (page: string): string =>
  Array.from(page.matchAll(/<h[1-3][^>]*>.*?<\/h[1-3]>/g), ([heading]) => heading).join("\n");

/** How pages are recorded: by their headings, since their words and files change more often than the contract. */
const AS_PAGE = { ...HTML, masks: UNRECORDED_TEXT, outline: headings };

const version = (title: string, accept?: string) =>
  get("readVersion", title, "/v1", accept === undefined ? {} : { headers: { accept } });

const documents: ReadonlyArray<Exchange> = [
  get("readRoot", "the descriptor", "/"),
  get("readRoot", "the console, for a browser", "/", AS_PAGE),
  get("readRoot", "the console has not changed", "/", {
    headers: { ...HTML.headers, "if-none-match": "*" },
    masks: UNRECORDED_TEXT,
  }),
  get("readDescriptor", "the descriptor", "/.well-known/settlement-evidence.json"),
  version("the versions"),
  version("JSON among others", "text/html;q=0.9, application/*;q=0.5"),
  version("JSON with a quality of 0", "application/json;q=0, text/html"),
  version("an invalid Accept header", "nonsense"),
  get("readOpenApi", "the document", "/openapi.json", { bodyFile: "openapi.json" }),
  get("readOpenApi", "the document has not changed", "/openapi.json", {
    headers: { "if-none-match": "{etag}" },
  }),
  get("readArazzo", "the document", "/arazzo.json"),
  get("readArazzo", "the document has not changed", "/arazzo.json", {
    headers: { "if-none-match": "{etag}" },
  }),
  get("readDocs", "the reference", "/docs", AS_PAGE),
  get("readDocs", "it has not changed", "/docs", {
    headers: { ...HTML.headers, "if-none-match": "*" },
    masks: UNRECORDED_TEXT,
  }),
  get("readRoot", "as Markdown", "/", MARKDOWN),
  get("readDocs", "as Markdown", "/docs", { ...MARKDOWN, bodyFile: "docs.md" }),
  get("buildEvidence", "as Markdown", `/v1/evidence/${FULFILLED.address}`, MARKDOWN),
  get("readLlms", "as plain text", "/llms.txt", { headers: { accept: "text/plain" } }),
  get("readLlms", "it has not changed", "/llms.txt", { headers: { "if-none-match": "*" } }),
  get("readDocsMarkdown", "it has not changed", "/docs.md", { headers: { "if-none-match": "*" } }),
  get("readDocsPage", "it has not changed", "/docs/glossary.md", {
    headers: { "if-none-match": "*" },
    masks: UNRECORDED_TEXT,
  }),
  get("readDocsPage", "no such page", "/docs/nothing.md"),
];

const problem = (code: string) => get("readProblem", code, `/problems/${code}`);

const problemAs = (code: string, form: "page" | "Markdown") =>
  get(
    "readProblem",
    `${code} as ${form}`,
    `/problems/${code}`,
    form === "page" ? AS_PAGE : MARKDOWN,
  );

const nothingThere = (title: string, path: string, method = "GET") =>
  get("unmatched", title, path, { method });

const unmatched: ReadonlyArray<Exchange> = [
  nothingThere("no such path", "/nothing"),
  nothingThere("HEAD", "/nothing", "HEAD"),
  nothingThere("OPTIONS", "/nothing", "OPTIONS"),
  nothingThere("POST", "/nothing", "POST"),
  nothingThere("a slash at the end", "/v1/"),
  nothingThere("two slashes", "/v1//status"),
  nothingThere("upper case", "/V1"),
  nothingThere("a segment too few", "/v1/escrows"),
  nothingThere("a segment too many", `/v1/escrows/${AGENT.address}/more`),
  nothingThere("an empty segment", "/v1/escrows/"),
  nothingThere("an encoded path traversal", "/..%2f..%2fetc/passwd"),
  nothingThere("the default page of the OpenAPI plugin", "/swagger"),
];

/** What the documents and pages of the service and of its problems answer. */
export const pageExchanges: ReadonlyArray<Exchange> = [
  ...documents,
  get("readClientPackage", "the package", "/client/settlement-evidence.tgz"),
  get("readClientPackage", "its own validator", "/client/settlement-evidence.tgz", {
    headers: { "if-none-match": "{etag}" },
  }),
  ...PROBLEM_CODES.map((code) => problem(code)),
  problemAs("validation_failed", "page"),
  problemAs("validation_failed", "Markdown"),
  get("readProblem", "it has not changed", "/problems/validation_failed", {
    headers: { ...HTML.headers, "if-none-match": "*" },
    masks: UNRECORDED_TEXT,
  }),
  problemAs("blockhash_expired", "page"),
  problemAs("blockhash_expired", "Markdown"),
  problem("validation_failed.md"),
  problem("nothing"),
  problem("nothing.md"),
  problem("__proto__"),
  ...unmatched,
];
