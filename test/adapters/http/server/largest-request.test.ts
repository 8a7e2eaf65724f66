import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  type DocumentedOperation,
  documentedOperations,
  type OperationsDocument,
  usualTarget,
} from "../../../hostile-requests/documented-operations.ts";
import { hostileBodies } from "../../../hostile-requests/hostile-bodies.ts";
import { hostileHeads } from "../../../hostile-requests/hostile-heads.ts";
import { escrow, merchant } from "../support/parties.ts";
import { checkedClient, jsonOf, makeSyncedService, problemOf } from "../support/service.ts";

const released = escrow("largest", "Fulfilled");

let service: Awaited<ReturnType<typeof makeSyncedService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;
let operations: ReadonlyArray<DocumentedOperation>;

beforeAll(async () => {
  service = await makeSyncedService({ publicUrl: "https://evidence.example" });
  client = await checkedClient(service);
  service.seed({ escrows: [released], merchants: [merchant()] });
  service.ledger.reset();
  const response = await client.send("/openapi.json");
  operations = documentedOperations(await jsonOf<OperationsDocument>(response));
});
afterAll(() => service.runtime.dispose());

const targetOf = (operation: DocumentedOperation): string =>
  usualTarget(operation, released.address);

const post = (operation: DocumentedOperation, body: string, headers: Record<string, string> = {}) =>
  client.send(targetOf(operation), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });

/**
 * The client checks all answers and problems against the document. 409: the escrow's state does not allow it. What MCP refuses is a documented 400
 * or 404 that is no problem.
 */
const isAnswer = ({ status, headers }: Response): boolean =>
  status < 300 ||
  status === 422 ||
  status === 409 ||
  (status < 500 && headers.get("content-type") === "application/json");

test("every operation takes hostile bodies of the largest size and answers each as documented", async () => {
  for (const operation of operations) {
    const { body, operationId } = operation;
    if (body === null) continue;
    for (const { name, text, isMalformed } of hostileBodies(body.example, body.maxBytes)) {
      const where = `${operationId}, ${name}`;
      const response = await post(operation, text);
      const { status } = response;
      if (isMalformed)
        expect([where, await problemOf(response)]).toEqual([where, "400 malformed_json"]);
      // Many values in much text are refused as malformed too.
      else
        expect([where, isAnswer(response) || (status === 400 && text.length > 32_768)]).toEqual([
          where,
          true,
        ]);
    }
  }
}, 60_000);

test("one byte more is a 413, declared or not, whether the operation reads its body or not", async () => {
  for (const operation of operations.filter(({ method }) => method === "POST")) {
    const bytes = (operation.body?.maxBytes ?? 262_144) + 1;
    const body = JSON.stringify(operation.body?.example ?? {}).padEnd(bytes);
    const declared = await post(operation, body, { "content-length": String(bytes) });
    expect(await problemOf(declared), operation.operationId).toBe("413 payload_too_large");
    if (operation.body === null) continue;
    const streamed = await client.send(targetOf(operation), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: new Response(body).body ?? "",
      duplex: "half",
    });
    expect(await problemOf(streamed), operation.operationId).toBe("413 payload_too_large");
    const largest = await post(operation, body.slice(0, -1));
    expect([operation.operationId, largest.status]).not.toEqual([operation.operationId, 413]);
  }
});

test("a body with a delivery payload has at most 32 KiB, and the document says so", async () => {
  const verify = operations.find(({ operationId }) => operationId === "verifyDelivery");
  expect(verify?.body?.maxBytes).toBe(32_768);
  const usual = operations.find(({ operationId }) => operationId === "prepareEscrow");
  expect(usual?.body?.maxBytes).toBe(262_144);
});

test("every operation takes the longest paths, queries and headers and answers each as documented", async () => {
  for (const operation of operations) {
    const isPost = operation.method === "POST";
    const usual: Record<string, string> = isPost ? { "content-type": "application/json" } : {};
    const heads = hostileHeads(operation, released.address);
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
      const where = `${operation.operationId}, ${name}`;
      expect([where, response.status < 500]).toEqual([where, true]);
      await response.body?.cancel();
    }
  }
}, 60_000);
