import {
  Client as ModernClient,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as LegacyStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** How a person answers the one question; `cannot` is a client without forms. */
export type Person =
  | { readonly action: "accept"; readonly content: { readonly send: boolean } }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }
  | "cannot";

/** A person who agrees. */
export const AGREES: Person = { action: "accept", content: { send: true } };

/** What a call of a tool gave. */
export type Called = {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
  readonly links: ReadonlyArray<string>;
};

/** A connected client of either generation. */
export type McpClient = {
  /** The revision that both sides speak. */
  readonly revision: string | undefined;
  /** The questions that the person was asked. */
  readonly asked: ReadonlyArray<string>;
  readonly tools: () => Promise<ReadonlyArray<string>>;
  readonly call: (name: string, args?: Readonly<Record<string, unknown>>) => Promise<Called>;
  readonly read: (uri: string) => Promise<string>;
  readonly close: () => Promise<void>;
};

type Block = { readonly type: string; readonly text?: string; readonly uri?: string };

const calledOf = (result: unknown): Called => {
  const {
    isError = false,
    content,
    structuredContent = {},
  } = result as {
    readonly isError?: boolean;
    readonly content: ReadonlyArray<Block>;
    readonly structuredContent?: Readonly<Record<string, unknown>>;
  };
  return {
    isError,
    text: content.find(({ type }) => type === "text")?.text ?? "",
    structured: structuredContent,
    links: content.flatMap(({ type, uri }) =>
      type === "resource_link" && uri !== undefined ? [uri] : [],
    ),
  };
};

const textOf = (read: unknown): string =>
  (read as { readonly contents: ReadonlyArray<{ readonly text: string }> }).contents[0]?.text ?? "";

const INFO = { name: "test", version: "1" };
const capabilitiesOf = (person: Person) => (person === "cannot" ? {} : { elicitation: {} });
const answerOf = (person: Person) => {
  if (person === "cannot") throw new Error("asked a client that cannot");
  return person;
};

/** Where a client connects: an address of `/mcp`, or the command of a server on standard input and output. */
export type Place =
  | { readonly url: string }
  | { readonly command: string; readonly args: ReadonlyArray<string> };

/** A client of the present generation, which takes revision 2026-07-28 where it is served. */
export const modernClient = async (place: Place, person: Person): Promise<McpClient> => {
  const asked: Array<string> = [];
  const client = new ModernClient(INFO, {
    capabilities: capabilitiesOf(person),
    versionNegotiation: { mode: "auto" },
  });
  if (person !== "cannot")
    client.setRequestHandler("elicitation/create", ({ params }) => {
      asked.push(params.message);
      return answerOf(person);
    });
  await client.connect(
    "url" in place
      ? new StreamableHTTPClientTransport(new URL(place.url))
      : new ModernStdio({ command: place.command, args: [...place.args] }),
  );
  return {
    revision: client.getNegotiatedProtocolVersion(),
    asked,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => calledOf(await client.callTool({ name, arguments: args })),
    read: async (uri) => textOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
};

/** A client of the generation before, which opens with `initialize`. */
export const legacyClient = async (place: Place, person: Person): Promise<McpClient> => {
  const asked: Array<string> = [];
  const client = new LegacyClient(INFO, { capabilities: capabilitiesOf(person) });
  if (person !== "cannot")
    client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      asked.push(params.message);
      return answerOf(person);
    });
  const http = "url" in place ? new LegacyHttp(new URL(place.url)) : null;
  const stdio =
    "url" in place ? null : new LegacyStdio({ command: place.command, args: [...place.args] });
  const revisions: Array<string> = [];
  if (stdio !== null) {
    Object.assign(stdio, { setProtocolVersion: (version: string) => revisions.push(version) });
    await client.connect(stdio);
  }
  if (http !== null) await client.connect(http);
  return {
    revision: http === null ? revisions[0] : http.protocolVersion,
    asked,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}) => calledOf(await client.callTool({ name, arguments: args })),
    read: async (uri) => textOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
};
