import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { endpoint } from "../server/endpoint.ts";
import { ETAG_HEADER, NOT_MODIFIED, conditionalAnswer } from "./conditional-answer.ts";

/** Where a language model begins to read. */
export const LLMS_PATH = "/llms.txt";

/** `GET /llms.txt`; `text` is made at its first use. */
export const llmsEndpoint = (text: () => string) =>
  endpoint({
    method: "GET",
    path: LLMS_PATH,
    operationId: "readLlms",
    tag: "Service",
    summary: "The service for a language model",
    description: "What an agent needs, with links, in the form of llmstxt.org.",
    budget: "reads",
    answers: {
      200: {
        description: "The text, in Markdown.",
        content: {
          "text/markdown": { schema: Type.String(), example: () => "# …" },
          "text/plain": { schema: Type.String(), example: () => "# …" },
        },
        headers: { ...ETAG_HEADER, vary: "The answer depends on `Accept`." },
      },
      304: NOT_MODIFIED,
    },
    problems: [],
  }).handle(({ headers }) =>
    Effect.succeed(conditionalAnswer(text(), headers, { vary: "accept" })),
  );
