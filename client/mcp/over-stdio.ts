import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer, type McpParts } from "./mcp-server.ts";

/** Serves the client at the other end of standard input and output until it closes them. Returns at once. */
export const serveOverStdio = (parts: McpParts): void => {
  serveStdio(() => mcpServer(parts), { onerror: parts.report });
};
