import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { endpoint } from "../server/endpoint.ts";
import { entityTag, isNotModified } from "../request/entity-tag.ts";

/** `GET /console/verify.js`; `module` is the module's text, made at its first use. */
export const consoleVerifierEndpoint = (module: () => Promise<string>) =>
  endpoint({
    method: "GET",
    path: "/console/verify.js",
    operationId: "readConsoleVerifier",
    tag: "Service",
    summary: "The console's evidence verifier",
    description:
      "A module for browsers, imported by the page at `/`. It checks a packet in the browser; nothing is uploaded.",
    budget: null,
    answers: {
      200: {
        description: "The module.",
        content: { "text/javascript": { schema: Type.String(), example: () => "const …" } },
        headers: { etag: "Strong validator of the whole module." },
      },
      304: {
        description: "The module is the one that `If-None-Match` names.",
        content: {},
        headers: { etag: "The module's validator." },
      },
    },
    problems: [],
  }).handle(({ headers }) =>
    Effect.map(Effect.promise(module), (text) => {
      const etag = entityTag(text);
      return isNotModified(headers.get("if-none-match"), etag)
        ? { status: 304 as const, text: null, headers: { etag } }
        : { text, headers: { etag } };
    }),
  );
