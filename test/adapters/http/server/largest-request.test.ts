import { readFileSync } from "node:fs";
import { expect, test } from "bun:test";
import {
  type DocumentedOperation,
  documentedOperations,
  type OperationsDocument,
  usualTarget,
} from "../../../hostile-requests/documented-operations.ts";
import { hostileBodies } from "../../../hostile-requests/hostile-bodies.ts";
import { hostileHeads } from "../../../hostile-requests/hostile-heads.ts";
import { escrow, merchant } from "../support/parties.ts";
import { makeSyncedService, problemOf } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

const released = escrow("largest", "Fulfilled");
const RECORDED = new URL("../../../vectors/http-answers/openapi.json", import.meta.url);
/** The recorded document is the served one, so each operation is a test of its own, within a limit of its own. */
const operations = documentedOperations(
  JSON.parse(readFileSync(RECORDED, "utf8")) as OperationsDocument,
);
const named = (some: ReadonlyArray<DocumentedOperation>) =>
  some.map((operation) => [operation.operationId, operation] as const);

const { service, client } = await standing(
  makeSyncedService({ publicUrl: "https://evidence.example" }),
);
service.seed({ escrows: [released], merchants: [merchant()] });

const targetOf = (operation: DocumentedOperation): string =>
  usualTarget(operation, released.address);

const post = (operation: DocumentedOperation, body: string, headers: Record<string, string> = {}) =>
  client.send(targetOf(operation), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

/** What a server of Bun reads of a head, without some 300 bytes that every client sends. */
const MOST_HEAD_BYTES = 16_384 - 300;

/**
 * The client checks all answers and problems against the document. 409: the escrow's state does not allow it. What MCP
 * refuses is a documented 400 or 404 that is no problem.
 */
const isAnswer = ({ status, headers }: Response): boolean =>
  status < 300 ||
  status === 422 ||
  status === 409 ||
  (status < 500 && headers.get("content-type") === "application/json");

test.each(named(operations.filter(({ body }) => body !== null)))(
  "%s takes hostile bodies of the largest size and answers each as documented",
  async (_, operation) => {
    const { example, maxBytes } = operation.body ?? { example: {}, maxBytes: 0 };
    for (const { name, text, isMalformed } of hostileBodies(example, maxBytes)) {
      const response = await post(operation, text);
      const { status } = response;
      if (isMalformed)
        expect([name, await problemOf(response)]).toEqual([name, "400 malformed_json"]);
      // Many values in much text are refused as malformed too.
      else
        expect([name, isAnswer(response) || (status === 400 && text.length > 32_768)]).toEqual([
          name,
          true,
        ]);
    }
  },
);

test.each(named(operations.filter(({ method }) => method === "POST")))(
  "one byte more to %s is a 413, declared or not, whether the operation reads its body or not",
  async (_, operation) => {
    const bytes = (operation.body?.maxBytes ?? 262_144) + 1;
    const body = JSON.stringify(operation.body?.example ?? {}).padEnd(bytes);
    const declared = await post(operation, body, { "content-length": String(bytes) });
    expect(await problemOf(declared)).toBe("413 payload_too_large");
    if (operation.body === null) return;
    const streamed = await client.send(targetOf(operation), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Response(body).body ?? "",
      duplex: "half",
    });
    expect(await problemOf(streamed)).toBe("413 payload_too_large");
    const largest = await post(operation, body.slice(0, -1));
    expect(largest.status).not.toBe(413);
  },
);

test("a body with a delivery payload has at most 32 KiB, and the document says so", async () => {
  const verify = operations.find(({ operationId }) => operationId === "verifyDelivery");
  expect(verify?.body?.maxBytes).toBe(32_768);
  const usual = operations.find(({ operationId }) => operationId === "prepareEscrow");
  expect(usual?.body?.maxBytes).toBe(262_144);
});

test.each(named(operations))(
  "%s takes the longest paths, queries and headers and answers each as documented",
  async (_, operation) => {
    const isPost = operation.method === "POST";
    const usual: Record<string, string> = isPost ? { "content-type": "application/json" } : {};
    const heads = hostileHeads(operation, released.address);
    for (const { name, target, headers } of heads) {
      const bytes = Buffer.byteLength(target + Object.entries(headers).flat().join(": "));
      expect(bytes, name).toBeLessThanOrEqual(MOST_HEAD_BYTES);
    }
    const together = {
      name: "all headers",
      target: targetOf(operation),
      headers: Object.assign({}, ...heads.map(({ headers }) => headers)) as Record<string, string>,
    };
    const targets = heads.filter(({ headers }) => Object.keys(headers).length === 0);
    for (const { name, target, headers } of [...targets, together]) {
      const response = await client.send(target, {
        method: operation.method,
        headers: { ...usual, ...headers },
        ...(isPost ? { body: JSON.stringify(operation.body?.example) } : {}),
      });
      expect([name, response.status < 500]).toEqual([name, true]);
      await response.body?.cancel();
    }
  },
);
