import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { conditionalAnswer, ETAG_HEADER, NOT_MODIFIED } from "../agents/markdown-pages.ts";
import { acceptsGzip, entityTag, isNotModified } from "../request/accept.ts";
import { gzipJson, gzipText, type JsonText } from "../server/declared-answer.ts";
import { endpoint } from "../server/endpoint.ts";
import { once } from "../server/once.ts";
import type { OpenApiDocument } from "../openapi/openapi-document.ts";
import { htmlContent, markdownContent, policyIn, type StaticPage } from "../pages/static-page.ts";

/** A body in one of its forms, with the tag of its bytes. */
const formOf = <Body extends object>(
  bytes: string | Uint8Array,
  body: Body,
  headers: { readonly vary: string } & Readonly<Record<string, string>>,
) => ({ body, headers: { ...headers, etag: entityTag(bytes) } });

type Form<Body extends object> = ReturnType<typeof formOf<Body>>;

/** The form that a caller takes, as it is or as gzip; 304 for a caller that has it. */
const formFor = <Plain extends object, Gzip extends object>(
  forms: { readonly plain: Form<Plain>; readonly gzip: Form<Gzip> },
  asked: Headers,
) => {
  const { body, headers } = acceptsGzip(asked.get("accept-encoding")) ? forms.gzip : forms.plain;
  const { etag, vary } = headers;
  return isNotModified(asked.get("if-none-match"), etag)
    ? { status: 304 as const, text: null, headers: { etag, vary, ...policyIn(headers) } }
    : { status: 200 as const, ...body, headers };
};

const documentForms = (text: JsonText<OpenApiDocument>) => {
  const coded = gzipJson(text);
  const vary = "accept-encoding";
  return {
    plain: formOf(text, { jsonText: text }, { vary }),
    gzip: formOf(coded, { codedJson: coded }, { vary, "content-encoding": "gzip" }),
  };
};

const pageForms = ({ html, headers: own }: StaticPage) => {
  const bytes = gzipText(html);
  const headers = { ...own, vary: "accept, accept-encoding" };
  return {
    plain: formOf(html, { text: html }, headers),
    gzip: formOf(bytes, { bytes }, { ...headers, "content-encoding": "gzip" }),
  };
};

/** `GET /openapi.json`; `document` is the document's JSON text, made at its first use. */
export const openApiEndpoint = (document: () => Promise<JsonText<OpenApiDocument>>) => {
  const forms = once(async () => documentForms(await document()));
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
  }).handle(({ headers }) => Effect.map(Effect.promise(forms), (both) => formFor(both, headers)));
};

/** `GET /docs`; `markdown` is the same reference for whoever prefers Markdown. */
export const docsEndpoint = (page: () => Promise<StaticPage>, markdown: () => Promise<string>) => {
  const forms = once(async () => pageForms(await page()));
  return endpoint({
    method: "GET",
    path: "/docs",
    operationId: "readDocs",
    tag: "Service",
    summary: "API reference for people",
    description:
      "Every operation and record of the OpenAPI document as one page. It runs no script and loads nothing. Compressed with gzip when the client accepts that. A caller who prefers `text/markdown` gets what `/docs.md` answers.",
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
      if (mediaType !== "text/markdown") return formFor(yield* Effect.promise(forms), headers);
      return conditionalAnswer(yield* Effect.promise(markdown), headers, { vary: "accept" });
    }),
  );
};
