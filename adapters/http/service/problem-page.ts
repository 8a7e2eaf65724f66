import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { NOT_MODIFIED } from "../agents/markdown-pages.ts";
import { problemExplained } from "../pages/shell/problem-screen.ts";
import { pageAnswer } from "../pages/shell/screen.ts";
import { htmlContent } from "../pages/static-page.ts";
import { ProblemNotFound } from "../problems/http-failures.ts";
import {
  isProblemCode,
  PROBLEM_CATALOGUE,
  type ProblemCode,
} from "../problems/problem-catalogue.ts";
import { ProblemPage, problemPageRecord } from "../problems/problem-contract.ts";
import { endpoint } from "../server/endpoint.ts";

/** A problem's page in Markdown. */
const problemMarkdown = (code: ProblemCode): string => {
  const { status, title, explanation, cure } = PROBLEM_CATALOGUE[code];
  return `# ${title}\n\n- code: \`${code}\`\n- status: ${status}\n\n${explanation}\n\n## What to do\n\n${cure}\n`;
};

const MARKDOWN = ".md";

/** `GET /problems/{code}` */
export const problemPageEndpoint = endpoint({
  method: "GET",
  path: "/problems/{code}",
  operationId: "readProblem",
  tag: "Service",
  summary: "What a problem means, and its cure",
  description:
    "The page that a problem's `type` leads to, as JSON, as a page or as Markdown. With `.md` behind the code it is always Markdown.",
  budget: null,
  params: {
    code: Type.String({
      description: "The problem's code, or the code and `.md`.",
      examples: ["validation_failed"],
    }),
  },
  answers: {
    200: {
      description: "The explanation.",
      content: {
        "application/json": {
          schema: ProblemPage,
          example: () => problemPageRecord("validation_failed"),
        },
        ...htmlContent("<!doctype html>…"),
        "text/markdown": {
          schema: Type.String(),
          example: () => problemMarkdown("validation_failed"),
        },
      },
      headers: {
        vary: "The answer depends on `Accept` and, as a page, on `Accept-Encoding`.",
        etag: "Of a page: its validator.",
      },
    },
    304: NOT_MODIFIED,
  },
  problems: ["route_not_found"],
}).handle(
  Effect.fnUntraced(function* ({ params, mediaType, headers: asked }) {
    const isFile = params.code.endsWith(MARKDOWN);
    const code = isFile ? params.code.slice(0, -MARKDOWN.length) : params.code;
    if (!isProblemCode(code)) return yield* new ProblemNotFound();
    if (isFile)
      return {
        text: problemMarkdown(code),
        headers: { "content-type": "text/markdown; charset=utf-8" },
      };
    const headers = { vary: "accept" };
    if (mediaType === "text/markdown") return { text: problemMarkdown(code), headers };
    if (mediaType !== "text/html") return { json: problemPageRecord(code), headers };
    return pageAnswer(problemExplained(code), "/problems", asked);
  }),
);
