import type { ServiceCall } from "../../../client/mcp/ask.ts";
import type { ToolContext } from "../../../client/mcp/tool.ts";
import { testClock } from "../support/test-clock.ts";

/** What a tool beside a wallet works with, at a service that answers by `call`; nobody can be asked. */
export const toolContext = (
  call: ServiceCall,
  parts: Partial<Omit<ToolContext, "call">> = {},
): ToolContext => ({
  call,
  stream: () => Promise.reject(new Error("no stream")),
  clock: testClock().clock,
  trust: null,
  rebuilds: true,
  canAsk: false,
  consentTo: () => null,
  sessions: null,
  signal: new AbortController().signal,
  ...parts,
});
