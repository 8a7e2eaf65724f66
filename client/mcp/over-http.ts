import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { echoed, isShort } from "../../core/domain/encoding/foreign-text.ts";
import { type Requests, systemClock } from "../service/requests.ts";
import { mcpServer, type McpParts } from "./mcp-server.ts";
import type { ServiceCall } from "./ask.ts";

/** Headers of MCP that the protocol's own checks compare with the message. */
const FORWARDED = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"] as const;

/** A request that carries only what the protocol reads; the answer is always one JSON text. */
const requestOf = (headers: Headers): Request => {
  const forwarded = FORWARDED.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as [string, string]];
  });
  return new Request("http://localhost/mcp", {
    method: "POST",
    headers: [
      ["content-type", "application/json"],
      ["accept", "application/json, text/event-stream"],
      ...forwarded,
    ],
  });
};

/** A revision before 2026-07-28: a server and a transport for this one request, without a session. */
const answerLegacy = async (
  request: Request,
  parsedBody: object,
  parts: McpParts,
): Promise<Response> => {
  const server = mcpServer(parts);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
};

/** The protocol's answer to a message: its HTTP status, and its JSON, null for a notification's. */
export type McpAnswer = { readonly status: number; readonly json: object | null };

/** The server never sends notifications, so no stream is kept open. */
const noListening = (message: object): McpAnswer => {
  const id: unknown = "id" in message ? message.id : null;
  const error = { code: -32601, message: "Method not found: nothing here sends notifications." };
  const told = typeof id === "string" || typeof id === "number" ? id : null;
  return { status: 404, json: { jsonrpc: "2.0", id: told, error } };
};

/** The texts of a message that are not repeated whole, the longest first. */
const longTexts = (message: unknown): ReadonlyArray<string> => {
  const texts = new Set<string>();
  JSON.stringify(message, (name, value: unknown) => {
    for (const text of [name, value])
      if (typeof text === "string" && !isShort(text)) texts.add(text);
    return value;
  });
  return [...texts].sort((a, b) => b.length - a.length);
};

/** A text as it stands inside a string of JSON. */
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/**
 * The JSON of an answer. The protocol's package repeats names and headers in its errors; of a long one only the
 * beginning stays.
 */
const withoutEchoes = (text: string, sent: unknown): object => {
  const json = JSON.parse(text) as object;
  if (!("error" in json)) return json;
  const told = longTexts(sent).reduce(
    (left, long) => left.replaceAll(inJson(long), () => inJson(echoed(long))),
    text,
  );
  return JSON.parse(told) as object;
};

/** Where no stream is served; a tool that waits then reads at intervals. */
const noStream: Requests["stream"] = () => Promise.reject(new Error("no stream is served here"));

/**
 * Answers one message of an MCP client, given as parsed JSON, in the revision that it speaks. `call` reaches the
 * service's operations, and `stream` its streams. @throws a bug
 */
export const answerMcp = async (
  headers: Headers,
  message: object,
  call: ServiceCall,
  stream: Requests["stream"] = noStream,
): Promise<McpAnswer> => {
  if ("method" in message && message.method === "subscriptions/listen") return noListening(message);
  const bugs: Array<unknown> = [];
  const parts: McpParts = {
    call,
    stream,
    clock: systemClock,
    trust: null,
    rebuilds: false,
    sessions: null,
    report: (bug) => bugs.push(bug),
  };
  const request = requestOf(headers);
  const response = (await isLegacyRequest(request, message))
    ? await answerLegacy(request, message, parts)
    : await createMcpHandler(() => mcpServer(parts), { legacy: "reject" }).fetch(request, {
        parsedBody: message,
      });
  if (bugs.length > 0) throw bugs[0];
  const text = await response.text();
  const sent = [message, ...request.headers.values()];
  return { status: response.status, json: text === "" ? null : withoutEchoes(text, sent) };
};
