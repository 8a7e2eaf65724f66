import type { McpAnswering } from "../adapters/http/agents/mcp.ts";
import type { ServiceCall } from "../client/mcp/ask.ts";
import type { Requests } from "../client/service/requests.ts";

/**
 * Answers MCP clients with the client package's tools, which call the service's own operations. The protocol's package
 * is loaded at the first message: it takes 270 ms and 25 MB, and many services are never asked.
 */
export const answerMcpClients: McpAnswering = async (headers, message, ask) => {
  const { answerMcp } = await import("../client/mcp/over-http.ts");
  const call: ServiceCall = async (path, { body, headers: own } = {}) => {
    const response = await ask(path, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...own },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  /** A stream within the process, which ends with its signal as one over the network does. */
  const stream: Requests["stream"] = async (path, { headers: own = {}, signal } = {}) => {
    const { body, status, headers: given } = await ask(path, { headers: own });
    const until = signal === undefined ? {} : { signal };
    const piped = body?.pipeThrough(new TransformStream<Uint8Array, Uint8Array>(), until);
    return new Response(piped ?? null, { status, headers: given });
  };
  return answerMcp(headers, message, call, stream);
};
