import type { McpAnswering } from "../adapters/http/agents/mcp.ts";

/**
 * Answers MCP clients with the client package's tools, which call the service's own operations. The protocol's package
 * is loaded at the first message: it takes 270 ms and 25 MB, and many services are never asked.
 */
export const answerMcpClients: McpAnswering = async (headers, message, ask) => {
  const { answerMcp } = await import("../client/mcp/over-http.ts");
  return answerMcp(headers, message, async (path, { body, headers: own } = {}) => {
    const response = await ask(path, {
      method: body === undefined ? "GET" : "POST",
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...own },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  });
};
