import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { DocumentationPageNotFound } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";
import { DOCUMENTATION_PAGES, isDocumentationPage } from "./documentation-pages.ts";
import { REFERENCE_PATH } from "./reference-markdown.ts";
import { ETAG_HEADER, NOT_MODIFIED, conditionalAnswer } from "./conditional-answer.ts";

const answers = {
  200: {
    description: "The page.",
    content: { "text/markdown": { schema: Type.String(), example: () => "# …" } },
    headers: ETAG_HEADER,
  },
  304: NOT_MODIFIED,
} as const;

/** `GET /docs.md`; `text` is made at its first use. */
export const referenceMarkdownEndpoint = (text: () => Promise<string>) =>
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
    Effect.map(Effect.promise(text), (markdown) => conditionalAnswer(markdown, headers)),
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
    return conditionalAnswer(DOCUMENTATION_PAGES[page].markdown(), headers);
  }),
);
