import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { ETAG_HEADER, NOT_MODIFIED } from "../agents/markdown-pages.ts";
import type { OpenApiDocument } from "../openapi/openapi-document.ts";
import { htmlContent, markdownContent } from "../pages/static-page.ts";
import { PAGE_POLICY } from "../pages/shell/shell.ts";
import { chooseForm, type CodedText, keptText, textAnswer } from "../server/coded-text.ts";
import type { CodedJson, JsonText } from "../server/declared-answer.ts";
import { endpoint } from "../server/endpoint.ts";
import { once } from "../server/once.ts";

/** The document in the coding that the caller takes; 304 for a caller that has it. */
const documentAnswer = (document: CodedText, asked: Headers) => {
  const { body, headers } = chooseForm(document, asked);
  if (body === null) return { status: 304 as const, text: null, headers };
  return typeof body === "string"
    ? { status: 200 as const, jsonText: body as JsonText<OpenApiDocument>, headers }
    : { status: 200 as const, codedJson: body as CodedJson<OpenApiDocument>, headers };
};

/** `GET /openapi.json`; `document` is the document's JSON text, made at its first use. */
export const openApiEndpoint = (document: () => Promise<JsonText<OpenApiDocument>>) => {
  const coded = once(async () => keptText(await document()));
  return endpoint({
    method: "GET",
    path: "/openapi.json",
    operationId: "readOpenApi",
    tag: "Service",
    summary: "This contract as OpenAPI 3.1.0",
    description:
      "Every operation, every status it can answer with, and an example of each. Compressed with brotli or gzip when the client accepts that.",
    budget: "reads",
    answers: {
      200: {
        description: "The OpenAPI document.",
        content: {
          "application/json": {
            schema: Type.Object(
              { openapi: Type.Literal("3.1.0"), info: Type.Object({}), paths: Type.Object({}) },
              { title: "OpenApiDocument", additionalProperties: true },
            ),
            example: () => ({ openapi: "3.1.0", info: {}, paths: {} }),
          },
        },
        headers: ETAG_HEADER,
      },
      304: {
        description: "The document is the one that `If-None-Match` names.",
        content: {},
        headers: { etag: "The document's validator.", vary: ETAG_HEADER.vary },
      },
    },
    problems: [],
  }).handle(({ headers }) =>
    Effect.map(Effect.promise(coded), (document) => documentAnswer(document, headers)),
  );
};

/** `GET /docs`; `markdown` is the same reference for whoever prefers Markdown. */
export const docsEndpoint = (page: () => Promise<CodedText>, markdown: () => Promise<CodedText>) =>
  endpoint({
    method: "GET",
    path: "/docs",
    operationId: "readDocs",
    tag: "Service",
    summary: "API reference for people",
    description:
      "Every operation and record of the OpenAPI document as one page. A caller who prefers `text/markdown` gets what `/docs.md` answers.",
    budget: null,
    answers: {
      200: {
        description: "The page.",
        content: { ...htmlContent("<!doctype html>…"), ...markdownContent("# …") },
        headers: { ...ETAG_HEADER, vary: "The answer depends on `Accept` and `Accept-Encoding`." },
      },
      304: NOT_MODIFIED,
    },
    problems: [],
  }).handle(
    Effect.fnUntraced(function* ({ mediaType, headers }) {
      const text = yield* Effect.promise(mediaType === "text/markdown" ? markdown : page);
      const more = mediaType === "text/markdown" ? {} : PAGE_POLICY;
      return textAnswer(chooseForm(text, headers, "accept"), more);
    }),
  );
