import type { ServiceCall } from "../../../client/mcp/ask.ts";
import type { ToolContext } from "../../../client/mcp/tool.ts";

/** What a tool beside a wallet works with, at a service that answers by `call`; nobody can be asked. */
export const toolContext = (
  call: ServiceCall,
  parts: Partial<Omit<ToolContext, "call">> = {},
): ToolContext => ({
  call,
  trust: null,
  rebuilds: true,
  canAsk: false,
  consentTo: () => null,
  sessions: null,
  signal: new AbortController().signal,
  ...parts,
});
