import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { OriginNotAllowed } from "../problems/http-failures.ts";
import { record } from "../openapi/values.ts";
import { isAllowedOrigin } from "../request/request-origin.ts";
import { endpoint } from "../server/endpoint.ts";

/** Where MCP clients connect. */
export const MCP_PATH = "/mcp";

/**
 * Above the longest message of a payment: a signed transaction or a task, each below 5 KiB. The protocol's package
 * looks at each member of a message, which takes some 40 ms for 32 KiB of small ones and must not hold the event loop
 * for so long.
 */
const MAX_MESSAGE_BYTES = 16 * 1024;

/**
 * Answers one message of an MCP client with JSON, or with nothing for a notification. `ask` reaches the operations of
 * the service as that client.
 */
export type McpAnswering = (
  headers: Headers,
  message: object,
  ask: (path: string, init: RequestInit) => Promise<Response>,
) => Promise<{ readonly status: number; readonly json: object | null }>;

/** What `/mcp` works with. */
export type McpParts = {
  readonly answer: McpAnswering;
  /** The origins whose pages may call it; `*` lists nobody. */
  readonly origins: ReadonlyArray<string>;
};

/** Where nothing answers MCP clients. The path is then not served. */
export const noMcp: McpAnswering = () => Promise.reject(new Error("no MCP is served here"));

/** An answer repeats the id, so it is too short for a private key; a UUID has this length. */
const MAX_ID_LENGTH = 36;

const anyMembers = (description: string) =>
  Type.Optional(Type.Object({}, { description, additionalProperties: true }));

const Message = record(
  "McpMessage",
  "A message of the Model Context Protocol (JSON-RPC 2.0). Batches are not served.",
  {
    jsonrpc: Type.Optional(Type.String({ description: "2.0" })),
    id: Type.Optional(
      Type.Union([Type.String({ maxLength: MAX_ID_LENGTH }), Type.Integer()], {
        description: "Names a request; a notification has none.",
      }),
    ),
    method: Type.Optional(Type.String({ description: "What is asked or told." })),
    params: anyMembers("The protocol's own, by method."),
    result: anyMembers("Of an answer that a client sends; nothing here asks for one."),
    error: anyMembers("Of such an answer."),
  },
);
const Reply = Type.Object(
  { jsonrpc: Type.Literal("2.0") },
  { title: "McpReply", description: "A JSON-RPC 2.0 answer.", additionalProperties: true },
);

const example = () => ({
  jsonrpc: "2.0" as const,
  id: 1,
  method: "tools/list",
});
const content = (reply: () => object) => ({
  "application/json": { schema: Reply, example: () => ({ jsonrpc: "2.0", id: 1, ...reply() }) },
});
const error = (code: number, message: string) => content(() => ({ error: { code, message } }));

/** `POST /mcp` */
export const mcpEndpoint = ({ answer, origins }: McpParts) =>
  endpoint({
    method: "POST",
    path: MCP_PATH,
    operationId: "callMcp",
    tag: "Service",
    summary: "The tools of the Model Context Protocol",
    description:
      "One message of an MCP client, in revision 2026-07-28 or an earlier one; there are no sessions and no streams. The tools prepare unsigned transactions, read, and relay what was signed once the client's person has confirmed it. A call costs its operation's budget besides one read. A page in a browser may call it only from a listed origin or from the same machine.",
    budget: "reads",
    listedOriginsOnly: true,
    maySeconds: 240,
    body: { schema: Message, example, maxBytes: MAX_MESSAGE_BYTES },
    answers: {
      200: {
        description: "The answer to a request.",
        content: content(() => ({ result: { tools: [] } })),
      },
      202: { description: "A notification was taken.", content: {} },
      400: {
        description: "The protocol refuses the message.",
        content: error(-32600, "Invalid Request"),
      },
      404: {
        description: "The protocol has no such method here.",
        content: error(-32601, "Method not found"),
      },
    },
    problems: ["origin_not_allowed"],
  }).handle(
    Effect.fnUntraced(function* ({ headers, body, ask }) {
      if (!isAllowedOrigin(headers.get("origin"), origins)) return yield* new OriginNotAllowed();
      const { status, json } = yield* Effect.promise(() => answer(headers, body, ask));
      if (json === null) return { status: 202 as const, text: null };
      const reply = json as Static<typeof Reply>;
      if (status === 200) return { status, json: reply };
      if (status === 400) return { status, json: reply };
      if (status === 404) return { status, json: reply };
      return yield* Effect.die(new Error(`MCP answered ${status}`));
    }),
  );
