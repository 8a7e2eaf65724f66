import { Effect } from "effect";
import { Instance } from "../../../ports/instance.ts";
import { endpoint } from "../server/endpoint.ts";
import { Descriptor, descriptorExample, descriptorRecord } from "./descriptor-contract.ts";
import { data } from "../openapi/envelopes.ts";
import { Version, versionExample, versionRecord } from "./version-contract.ts";
import { htmlContent, markdownContent, type StaticPage } from "../pages/static-page.ts";

const describe = (origin: string) =>
  Effect.map(Instance, ({ deployment, networkAddress }) =>
    descriptorRecord({ deployment, networkAddress, origin }),
  );

/** `GET /.well-known/settlement-evidence.json` */
export const descriptorEndpoint = endpoint({
  method: "GET",
  path: "/.well-known/settlement-evidence.json",
  operationId: "readDescriptor",
  tag: "Service",
  summary: "Service descriptor",
  description: "Describes this deployment.",
  budget: "reads",
  answers: {
    200: {
      description: "The descriptor.",
      content: { "application/json": { schema: Descriptor, example: descriptorExample } },
    },
  },
  problems: [],
}).handle(({ origin }) => Effect.map(describe(origin()), (json) => ({ json })));

/** `GET /`: the descriptor, for a browser the console, and as Markdown the text of `/llms.txt`. */
export const rootEndpoint = (console: () => StaticPage, llmsText: () => string) =>
  endpoint({
    method: "GET",
    path: "/",
    operationId: "readRoot",
    tag: "Service",
    summary: "Service descriptor, or the console for a browser",
    description:
      "A caller who prefers `text/html` gets a page for people, one who prefers `text/markdown` what `/llms.txt` answers.",
    budget: "reads",
    answers: {
      200: {
        description: "The descriptor, or the page.",
        content: {
          "application/json": { schema: Descriptor, example: descriptorExample },
          ...htmlContent("<!doctype html>…"),
          ...markdownContent("# …"),
        },
        headers: { vary: "The answer depends on `Accept`." },
      },
    },
    problems: [],
  }).handle(
    Effect.fnUntraced(function* ({ origin, mediaType }) {
      const headers = { vary: "accept" };
      if (mediaType === "text/markdown") return { text: llmsText(), headers };
      if (mediaType !== "text/html") return { json: yield* describe(origin()), headers };
      const page = console();
      return { text: page.html, headers: { ...headers, ...page.headers } };
    }),
  );

/** `GET /v1` */
export const versionEndpoint = endpoint({
  method: "GET",
  path: "/v1",
  operationId: "readVersion",
  tag: "Service",
  summary: "Version information",
  description: "Versions of the contract, of the evidence format and of the service.",
  budget: "reads",
  answers: {
    200: {
      description: "The versions.",
      content: {
        "application/json": {
          schema: data(Version),
          example: () => ({ data: versionExample() }),
        },
      },
    },
  },
  problems: [],
}).handle(
  Effect.fnUntraced(function* () {
    const { version, revision } = yield* Instance;
    return { json: { data: versionRecord(version, revision) } };
  }),
);
