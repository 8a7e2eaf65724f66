import { afterEach, describe, expect, test } from "bun:test";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import {
  NodeFault,
  NodeUnable,
  RpcRefusal,
} from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";
import { Ledger, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { configOver, failureOf, runOver } from "../ledger-under-test.ts";
import {
  type Behaviour,
  body,
  page,
  result,
  rpcError,
  ScriptedPeer,
  silence,
} from "../scripted-peer.ts";

const GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const KEYS = ["user-key", "pass-key", "path-key", "query-key"];

const opened: Array<Disposable> = [];
const opening = <T extends Disposable>(thing: T): T => {
  opened.push(thing);
  return thing;
};
afterEach(() => {
  for (const thing of opened.splice(0)) thing[Symbol.dispose]();
});

const askGenesis = Ledger.use((ledger) => ledger.genesisHash);

/** The cause of a failed request to a peer with this behaviour. */
const causeOf = async (
  behaviour: Behaviour,
  maxBodyBytes = 1_000_000,
): Promise<LedgerUnavailable> => {
  const peer = opening(new ScriptedPeer(behaviour));
  const config = configOver([peer], { attemptsPerNode: 1 });
  const pools = { ...config.pools, single: { ...config.pools.single, maxBodyBytes } };
  const { exit } = await runOver({ ...config, pools }, askGenesis);
  const failure = failureOf(exit);
  if (!(failure instanceof LedgerUnavailable)) throw new Error(`unexpected ${failure._tag}`);
  return failure;
};

const truncated = `{"jsonrpc":"2.0","id":1,"result":"${GENESIS.slice(0, 9)}`;
const endless = (): ReadableStream<string> =>
  new ReadableStream({ pull: (controller) => controller.enqueue(" ".repeat(65_536)) });
const faults: ReadonlyArray<readonly [string, Behaviour, NodeFault["kind"], number | null]> = [
  ["429", page(429), "rate_limited", 429],
  ["500", page(500), "http_status", 500],
  ["503", page(503), "http_status", 503],
  ["a redirect", page(307, { location: "http://127.0.0.1:1/elsewhere" }), "http_status", 307],
  ["HTML with status 200", page(200), "not_json", null],
  ["truncated JSON", body(truncated), "not_json", null],
  ["bytes that are not UTF-8", body(Uint8Array.of(0x22, 0xff, 0x22)), "not_json", null],
  ["an empty body", body(""), "not_json", null],
  [
    "another request's answer",
    (_call, request) => result(GENESIS)({ id: 99, method: "", params: [] }, request),
    "wrong_id",
    null,
  ],
  ["an answer without version", body(`{"id":1,"result":"${GENESIS}"}`), "malformed", null],
  ["an answer with neither result nor error", body('{"jsonrpc":"2.0","id":1}'), "malformed", null],
  [
    "an error without code",
    body('{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}'),
    "malformed",
    null,
  ],
  ["a batch", body("[]"), "malformed", null],
  ["a result of another type", result({ slot: 1 }), "malformed", null],
  ["a hash of 31 bytes", result(GENESIS.slice(0, 42)), "malformed", null],
  ["an unhealthy node", rpcError(-32005, { numSlotsBehind: 42 }), "unwell", -32005],
  ["an internal error", rpcError(-32603), "unwell", -32603],
  ["an error code of the provider's own", rpcError(-31000), "unwell", -31000],
];

describe("a node that gives no usable answer", () => {
  test.each(faults)("%s", async (_name, behaviour, kind, code) => {
    const { retryable, cause } = await causeOf(behaviour);
    expect(cause).toBeInstanceOf(NodeFault);
    expect(cause).toMatchObject(code === null ? { kind } : { kind, code });
    expect(retryable).toBe(true);
  });

  test("a body beyond the limit is not read to its end, and a retry cannot help", async () => {
    const declared = await causeOf(body(" ".repeat(1001)), 1000);
    const streamed = await causeOf((call, request) => body(endless())(call, request), 1000);
    for (const { retryable, cause } of [declared, streamed]) {
      expect(cause).toMatchObject({ _tag: "NodeFault", kind: "oversize" });
      expect(retryable).toBe(false);
    }
  });

  test("nobody listens", async () => {
    const peer = new ScriptedPeer(page(200));
    peer[Symbol.dispose]();
    const { exit } = await runOver(configOver([peer], { attemptsPerNode: 1 }), askGenesis);
    const { cause } = failureOf(exit) as LedgerUnavailable;
    expect(cause).toMatchObject({ kind: "unreachable", code: "ECONNREFUSED" });
  });
});

describe("a healthy node", () => {
  test("that does not serve a method, or this client, says so", async () => {
    const cases: ReadonlyArray<readonly [Behaviour, number]> = [
      [rpcError(-32601), -32601],
      [rpcError(-32010), -32010],
      [page(401), 401],
      [page(403), 403],
      [rpcError(-32601, undefined, 404), -32601],
    ];
    for (const [behaviour, code] of cases) {
      const { retryable, cause } = await causeOf(behaviour);
      expect(cause).toBeInstanceOf(NodeUnable);
      expect(cause).toMatchObject({ code });
      expect(retryable).toBe(false);
    }
  });

  test("that refuses is not asked again, and its message is dropped", async () => {
    const { retryable, cause } = await causeOf(rpcError(-32602, { secret: "query-key" }, 400));
    expect(cause).toBeInstanceOf(RpcRefusal);
    expect(cause).toMatchObject({ code: -32602, data: null });
    expect(retryable).toBe(false);
  });
});

test("a connection closed before or during the answer is the node's fault", async () => {
  for (const start of ["", `HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n${truncated}`]) {
    const server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: { data: (socket) => void socket.end(start) },
    });
    opened.push({ [Symbol.dispose]: () => server.stop(true) });
    const config = configOver([new URL(`http://127.0.0.1:${server.port}`)], { attemptsPerNode: 1 });
    const { exit } = await runOver(config, askGenesis);
    expect((failureOf(exit) as LedgerUnavailable).cause).toMatchObject({ kind: "unreachable" });
  }
});

test("a node that never answers is given up after the timeout, and its connection closed", async () => {
  const abandoned = Promise.withResolvers<void>();
  const peer = opening(new ScriptedPeer(silence(abandoned.resolve)));
  const { exit } = await runOver(
    configOver([peer], { attemptsPerNode: 1 }),
    Effect.gen(function* () {
      const asking = yield* Effect.forkChild(askGenesis);
      yield* Effect.promise(() => peer.received(1));
      yield* TestClock.adjust("3999 millis");
      expect(asking.pollUnsafe()).toBeUndefined();
      yield* TestClock.adjust("1 millis");
      return yield* Fiber.join(asking);
    }),
  );
  expect(failureOf(exit)).toMatchObject({ _tag: "LedgerTimeout", timeoutMs: 4000 });
  await abandoned.promise;
});

test("no failure and no log line shows more of the address than scheme, host and port", async () => {
  for (const [, behaviour] of faults) {
    const peer = opening(new ScriptedPeer(behaviour));
    const { exit, logged } = await runOver(configOver([peer]), askGenesis);
    const shown = `${Bun.inspect(exit)}\n${JSON.stringify(exit)}\n${logged}`;
    expect(shown).toContain(`http://127.0.0.1:${peer.url.port}`);
    for (const key of KEYS) expect(shown).not.toContain(key);
  }
});
