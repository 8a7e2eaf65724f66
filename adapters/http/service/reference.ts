import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import type { JsonText } from "../server/declared-answer.ts";
import { endpoint } from "../server/endpoint.ts";
import type { OpenApiDocument } from "../openapi/finish-document.ts";
import { htmlContent, type StaticPage } from "../pages/static-page.ts";

/** `GET /openapi.json`; `document` is the document's JSON text. */
export const openApiEndpoint = (document: () => Promise<JsonText<OpenApiDocument>>) =>
  endpoint({
    method: "GET",
    path: "/openapi.json",
    operationId: "readOpenApi",
    tag: "Service",
    summary: "This contract as OpenAPI 3.1.0",
    description: "Every operation, every status it can answer with, and an example of each.",
    budget: null,
    answers: {
      200: {
        description: "The OpenAPI document.",
        content: {
          "application/json": {
            schema: Type.Object(
              { openapi: Type.Literal("3.1.0"), info: Type.Object({}), paths: Type.Object({}) },
              { additionalProperties: true },
            ),
            example: () => ({ openapi: "3.1.0", info: {}, paths: {} }),
          },
        },
      },
    },
    problems: [],
  }).handle(() => Effect.map(Effect.promise(document), (text) => ({ jsonText: text })));

/** `GET /docs` */
export const docsEndpoint = (page: () => StaticPage) =>
  endpoint({
    method: "GET",
    path: "/docs",
    operationId: "readDocs",
    tag: "Service",
    summary: "API reference for people",
    description: "A page made from the OpenAPI document. It loads nothing from another host.",
    budget: null,
    answers: {
      200: { description: "The page.", content: htmlContent("<!doctype html>…") },
    },
    problems: [],
  }).handle(() => {
    const { html, headers } = page();
    return Effect.succeed({ text: html, headers });
  });
