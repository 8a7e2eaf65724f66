import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { jsonText } from "../server/declared-answer.ts";
import { endpoint } from "../server/endpoint.ts";
import { entityTag, isNotModified } from "../request/entity-tag.ts";
import { once } from "../server/once.ts";
import { ARAZZO_DOCUMENT, ARAZZO_PATH } from "./arazzo-document.ts";
import { ETAG_HEADER, NOT_MODIFIED } from "./conditional-answer.ts";

const Part = Type.Object({}, { additionalProperties: true });

/** The members that every Arazzo document has. */
const Arazzo = Type.Object(
  {
    arazzo: Type.Literal("1.0.1"),
    info: Part,
    sourceDescriptions: Type.Array(Part),
    workflows: Type.Array(Part),
  },
  { title: "ArazzoDocument", additionalProperties: true },
);

const answer = once(() => {
  const text = jsonText(ARAZZO_DOCUMENT);
  return { text, headers: { etag: entityTag(text) } };
});

/** `GET /arazzo.json` */
export const arazzoEndpoint = endpoint({
  method: "GET",
  path: ARAZZO_PATH,
  operationId: "readArazzo",
  tag: "Service",
  summary: "Both lives of a payment, step by step, as Arazzo 1.0.1",
  description:
    "A payment that is released and one that is refunded, as calls of this contract's operations. Steps with `x-sign` need a signature from the caller's own keys; the document defines it.",
  budget: "reads",
  answers: {
    200: {
      description: "The Arazzo document.",
      content: {
        "application/json": {
          schema: Arazzo,
          example: () => ({ arazzo: "1.0.1", info: {}, sourceDescriptions: [], workflows: [] }),
        },
      },
      headers: ETAG_HEADER,
    },
    304: NOT_MODIFIED,
  },
  problems: [],
}).handle(({ headers: asked }) => {
  const { text, headers } = answer();
  return Effect.succeed(
    isNotModified(asked.get("if-none-match"), headers.etag)
      ? { status: 304 as const, text: null, headers }
      : { jsonText: text, headers },
  );
});
