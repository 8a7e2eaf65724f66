import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { encodeBase58 } from "../../../../core/domain/encoding/base58.ts";
import {
  type DocumentedOperation,
  documentedOperations,
  neededQuery,
  type OperationsDocument,
} from "../../../hostile-requests/documented-operations.ts";
import { escrow, merchant } from "../support/parties.ts";
import { jsonOf, makeSyncedService } from "../support/service.ts";

/** An Ed25519 seed and its public key's place: no nine of these bytes' digits stand anywhere else. */
const BYTES = Uint8Array.from({ length: 64 }, (_, i) => (i * 151 + 89) % 256);
const KEYS = {
  "64 bytes in base58": encodeBase58(BYTES),
  "a JSON array": JSON.stringify([...BYTES]),
  "a seed in hex": Buffer.from(BYTES.subarray(0, 32)).toString("hex"),
  "a text that JSON escapes": `"$&\\"$&\\"${encodeBase58(BYTES)}`,
};

/**
 * Members that hold what they are given: free texts that are what the caller asks for, and values whose form a key can
 * have, such as a hash of 64 hex digits. An answer that lacked them would be another answer.
 */
const DATA: ReadonlySet<string> = new Set(["task_intent", "nonce", "task_hash", "proof_hash"]);

const PENDING = escrow("sent by mistake");

let service: Awaited<ReturnType<typeof makeSyncedService>>;
let operations: ReadonlyArray<DocumentedOperation>;
beforeAll(async () => {
  service = await makeSyncedService({ publicUrl: "https://evidence.example.com" });
  service.seed({ escrows: [PENDING], merchants: [merchant()] });
  const document = await service.app.handle(new Request("http://localhost/openapi.json"));
  operations = documentedOperations(await jsonOf<OperationsDocument>(document));
});
afterAll(() => service.runtime.dispose());

type Sent = { readonly path: string; readonly init?: RequestInit };

/** A member's value for each place of an example where a key can stand, and a member that nobody knows. */
const spoiled = (example: unknown, key: string): ReadonlyArray<unknown> => {
  if (typeof example !== "object" || example === null) return [key];
  if (Array.isArray(example))
    return [[key], ...example.flatMap((each) => spoiled(each, key).map((one) => [one]))];
  return [
    { ...example, [key]: "x" },
    ...Object.entries(example).flatMap(([name, value]) =>
      DATA.has(name) ? [] : spoiled(value, key).map((one) => ({ ...example, [name]: one })),
    ),
  ];
};

/** Headers that leave a request what it is, sent together, and those that change it, sent one by one. */
const TOGETHER = [
  "x-request-id",
  "idempotency-key",
  "if-none-match",
  "last-event-id",
  "forwarded",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "access-control-request-headers",
  "mcp-method",
  "mcp-name",
  "mcp-session-id",
  "traceparent",
  "authorization",
  "cookie",
];
const ALONE = [
  "accept",
  "accept-encoding",
  "content-type",
  "content-encoding",
  "origin",
  "host",
  "mcp-protocol-version",
];

const json = { "content-type": "application/json" };

/** The requests of an operation with a key in each place where a caller can put text. */
const requestsWith = (operation: DocumentedOperation, key: string): ReadonlyArray<Sent> => {
  const { method, path, parameters, body } = operation;
  const written = encodeURIComponent(key);
  const target = path.replace(/\{[^}]+\}/g, () => PENDING.address);
  const usual: RequestInit = {
    method,
    ...(body === null ? {} : { body: JSON.stringify(body.example), headers: json }),
  };
  const query = neededQuery(operation);
  const and = query === "" ? "?" : "&";
  return [
    { path: path.replace(/\{[^}]+\}/g, () => written) + query, init: usual },
    { path: `${target}/${written}`, init: usual },
    { path: `/${written}${target}`, init: usual },
    { path: `${target}${query}${and}${written}=1`, init: usual },
    { path: `${target}${query}${and}${written}=1&${written}=2`, init: usual },
    ...parameters
      .filter((each) => each.in === "query" && !DATA.has(each.name))
      .map(({ name }) => ({
        path: `${target}${neededQuery(operation, name)}${neededQuery(operation, name) === "" ? "?" : "&"}${name}=${written}`,
        init: usual,
      })),
    ...[TOGETHER, ...ALONE.map((name) => [name])].map((names) => ({
      path: target + query,
      init: {
        ...usual,
        headers: {
          ...(usual.headers as object),
          ...Object.fromEntries(names.map((name) => [name, key])),
        },
      },
    })),
    ...(body === null
      ? []
      : [
          key,
          `{"${key}`,
          `${JSON.stringify(body.example)}${key}`,
          JSON.stringify(body.example).replace(
            "{",
            `{${JSON.stringify(key)}:1,${JSON.stringify(key)}:2,`,
          ),
          ...spoiled(body.example, key).map((one) => JSON.stringify(one)),
        ].map((text) => ({ path: target + query, init: { method, headers: json, body: text } }))),
  ];
};

type Message = { readonly method: string; readonly params?: object };

const messagesWith = (key: string): ReadonlyArray<object> => [
  { method: key },
  { method: "tools/call", params: { name: key } },
  { method: "tools/call", params: { name: "read_escrow", arguments: { [key]: key } } },
  { method: "tools/call", params: { name: "read_escrow", arguments: { escrow: key } } },
  { method: "tools/call", params: { name: "relay_outcome", arguments: { signature: key } } },
  {
    method: "tools/call",
    params: { name: "relay_transaction", arguments: { signed_transaction: key } },
  },
  { method: "tools/call", params: { name: "find_merchants", arguments: { q: key, cursor: key } } },
  {
    method: "tools/call",
    params: { name: "read_escrow", [key]: 1, _meta: { progressToken: key } },
  },
  { method: "tools/call", params: { name: { [key]: 1 } } },
  { method: "resources/read", params: { uri: key } },
  { method: "resources/read", params: { uri: `settlement://escrow/${key}` } },
  { method: "resources/read", params: { uri: `settlement://${key}/x` } },
  {
    method: "initialize",
    params: { protocolVersion: key, capabilities: {}, clientInfo: { name: key, version: key } },
  },
  { method: "completion/complete", params: { ref: { type: key } } },
  { method: "logging/setLevel", params: { level: key } },
  { method: "tools/list", params: { cursor: key } },
  { method: "tools/list", id: key },
];

/** The first nine characters in a row of a key that a text holds, null for none. */
const repeatedIn = (text: string, key: string): string | null => {
  // The long answers are documents, which nothing of a request goes into; a longer run of the key is still found in
  // them.
  const step = text.length > 50_000 ? 9 : 1;
  for (let at = 0; at + 9 <= key.length; at += step) {
    const part = key.slice(at, at + 9);
    if (text.includes(part)) return part;
  }
  return null;
};

/** What an answer and the log hold of a key. */
const repeatedBy = async ({ path, init }: Sent, key: string): Promise<string | null> => {
  service.lines.length = 0;
  const request = (() => {
    try {
      return new Request(`http://localhost${path}`, init);
    } catch {
      return null;
    }
  })();
  if (request === null) return null;
  const answer = await service.app.handle(request);
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  if (isStream) await answer.body?.cancel();
  const text = isStream ? "" : await answer.text();
  const told = `${JSON.stringify([...answer.headers])}${text}${JSON.stringify(service.lines)}`;
  return repeatedIn(told, key);
};

describe.each(Object.entries(KEYS))("a private key sent as %s", (_, key) => {
  test("is repeated in no answer and no log line, wherever it stands in a request", async () => {
    const found: Array<string> = [];
    for (const operation of operations)
      for (const sent of requestsWith(operation, key)) {
        const part = await repeatedBy(sent, key);
        if (part !== null)
          found.push(
            `${operation.operationId}: ${JSON.stringify(sent).replaceAll(key, "KEY").slice(0, 200)}`,
          );
      }
    expect(found).toEqual([]);
  });

  test("is repeated in no answer to a message of the Model Context Protocol", async () => {
    const found: Array<string> = [];
    const newest = (protocolVersion: string, clientInfo: object) => ({
      "io.modelcontextprotocol/protocolVersion": protocolVersion,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {},
    });
    const info = { name: "n", version: "1" };
    for (const { params, ...message } of messagesWith(key) as ReadonlyArray<Message>)
      for (const [headers, _meta] of [
        [{}, undefined],
        [{ "mcp-protocol-version": "2025-06-18" }, undefined],
        [
          { "mcp-protocol-version": "2026-07-28", "mcp-method": message.method },
          newest("2026-07-28", info),
        ],
        [
          { "mcp-protocol-version": "2026-07-28", "mcp-method": key, "mcp-name": key },
          newest("2026-07-28", info),
        ],
        [
          { "mcp-protocol-version": "2026-07-28", "mcp-method": message.method },
          newest(key, { name: key, version: key }),
        ],
        [{ "mcp-protocol-version": key }, newest(key, info)],
      ] as ReadonlyArray<readonly [Record<string, string>, object | undefined]>) {
        const more = _meta === undefined ? params : { ...params, _meta };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, ...message, params: more });
        const init = { method: "POST", headers: { ...json, ...headers }, body };
        const part = await repeatedBy({ path: "/mcp", init }, key);
        if (part !== null)
          found.push(`${JSON.stringify(headers)} ${body}`.replaceAll(key, "KEY").slice(0, 300));
      }
    expect(found).toEqual([]);
  });
});

test("a caller's own id of a request is kept when it is a short token", async () => {
  const idOf = async (id: string) =>
    (
      await service.app.handle(
        new Request("http://localhost/health", { headers: { "x-request-id": id } }),
      )
    ).headers.get("x-request-id");
  const uuid = "0192f0c1-2345-7abc-8def-0123456789ab";
  expect(await idOf(uuid)).toBe(uuid);
  expect(await idOf("order-17")).toBe("order-17");
  for (const other of ["a".repeat(37), "a b", KEYS["a seed in hex"]])
    expect(await idOf(other)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-/);
});
