import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { acceptsGzip } from "../request/accept-encoding.ts";
import { entityTag, isNotModified } from "../request/entity-tag.ts";
import { gzipJson, type JsonText } from "../server/declared-answer.ts";
import { endpoint } from "../server/endpoint.ts";
import { once } from "../server/once.ts";
import type { OpenApiDocument } from "../openapi/finish-document.ts";
import { htmlContent, markdownContent, type StaticPage } from "../pages/static-page.ts";

const VARY = "accept-encoding";

/** The forms in which the document is answered, each with its own tag. */
const formsOf = (text: JsonText<OpenApiDocument>) => {
  const coded = gzipJson(text);
  return {
    plain: { body: { jsonText: text }, headers: { etag: entityTag(text), vary: VARY } },
    gzip: {
      body: { codedJson: coded },
      headers: { etag: entityTag(coded), vary: VARY, "content-encoding": "gzip" },
    },
  };
};

/** `GET /openapi.json`; `document` is the document's JSON text, made at its first use. */
export const openApiEndpoint = (document: () => Promise<JsonText<OpenApiDocument>>) => {
  const forms = once(async () => formsOf(await document()));
  return endpoint({
    method: "GET",
    path: "/openapi.json",
    operationId: "readOpenApi",
    tag: "Service",
    summary: "This contract as OpenAPI 3.1.0",
    description:
      "Every operation, every status it can answer with, and an example of each. Compressed with gzip when the client accepts that.",
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
        headers: { etag: "Strong validator of the document in the form that was answered." },
      },
      304: {
        description: "The document is the one that `If-None-Match` names.",
        content: {},
        headers: { etag: "The document's validator." },
      },
    },
    problems: [],
  }).handle(({ headers }) =>
    Effect.map(Effect.promise(forms), ({ plain, gzip }) => {
      const form = acceptsGzip(headers.get("accept-encoding")) ? gzip : plain;
      const { etag, vary } = form.headers;
      return isNotModified(headers.get("if-none-match"), etag)
        ? { status: 304 as const, text: null, headers: { etag, vary } }
        : { ...form.body, headers: form.headers };
    }),
  );
};

/** `GET /docs`; `markdown` is the same reference for whoever prefers Markdown. */
export const docsEndpoint = (page: () => StaticPage, markdown: () => string) =>
  endpoint({
    method: "GET",
    path: "/docs",
    operationId: "readDocs",
    tag: "Service",
    summary: "API reference for people",
    description:
      "A page made from the OpenAPI document. It loads nothing from another host. A caller who prefers `text/markdown` gets what `/docs.md` answers.",
    budget: null,
    answers: {
      200: {
        description: "The page.",
        content: { ...htmlContent("<!doctype html>…"), ...markdownContent("# …") },
        headers: { vary: "The answer depends on `Accept`." },
      },
    },
    problems: [],
  }).handle(({ mediaType }) => {
    const vary = { vary: "accept" };
    if (mediaType === "text/markdown") return Effect.succeed({ text: markdown(), headers: vary });
    const { html, headers } = page();
    return Effect.succeed({ text: html, headers: { ...headers, ...vary } });
  });
