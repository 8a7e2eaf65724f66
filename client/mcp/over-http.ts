import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { mcpServer } from "./mcp-server.ts";
import type { ServiceCall } from "./tool.ts";

/** Headers of MCP that the protocol's own checks compare with the message. */
const FORWARDED = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"] as const;

/** A request that carries only what the protocol reads; the answer is always one JSON text. */
const requestOf = (headers: Headers, signal: AbortSignal): Request => {
  const kept = FORWARDED.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as [string, string]];
  });
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: [
      ["content-type", "application/json"],
      ["accept", "application/json, text/event-stream"],
      ...kept,
    ],
    signal,
  });
};

/** A revision before 2026-07-28: a server and a transport for this one request, without a session. */
const answerLegacy = async (
  request: Request,
  parsedBody: object,
  call: ServiceCall,
): Promise<Response> => {
  const server = mcpServer({ call, trust: null });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
};

const refusal = (body: object, code: number, message: string): Response => {
  const id: unknown = "id" in body ? body.id : null;
  const told = typeof id === "string" || typeof id === "number" ? id : null;
  return Response.json({ jsonrpc: "2.0", id: told, error: { code, message } }, { status: 404 });
};

/** Answers one message of an MCP client, given as parsed JSON, in the revision that it speaks. `call` reaches the service's operations. */
export const answerMcp = async (
  headers: Headers,
  body: object,
  call: ServiceCall,
  signal: AbortSignal,
): Promise<Response> => {
  // Nothing here changes behind a client's back, so there is nothing to listen to.
  if ("method" in body && body.method === "subscriptions/listen")
    return refusal(body, -32601, "Nothing here changes behind your back: there is no listening.");
  const request = requestOf(headers, signal);
  if (await isLegacyRequest(request, body)) return answerLegacy(request, body, call);
  const handler = createMcpHandler(() => mcpServer({ call, trust: null }), { legacy: "reject" });
  return handler.fetch(request, { parsedBody: body });
};
