import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { mcpServer, type McpParts } from "./mcp-server.ts";

/**
 * Serves the client at the other end of standard input and output until it closes them. Returns at once. It runs beside the wallet, so
 * payments are built anew before they are shown.
 */
export const serveOverStdio = (parts: Omit<McpParts, "rebuilds">): void => {
  serveStdio(() => mcpServer({ ...parts, rebuilds: true }), { onerror: parts.report });
};
