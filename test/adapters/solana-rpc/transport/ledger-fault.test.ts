import { expect, test } from "bun:test";
import { Effect } from "effect";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, failureOf, runOver } from "../ledger-under-test.ts";
import { type Behaviour, page, rpcError, ScriptedPeer } from "../scripted-peer.ts";

const cases: ReadonlyArray<readonly [string, Behaviour, object]> = [
  ["a refused key", page(401), { kind: "http_status", httpStatus: 401, rpcCode: null }],
  [
    "a missing method",
    rpcError(-32_601),
    { kind: "rpc_error", httpStatus: null, rpcCode: -32_601 },
  ],
  ["a node that catches up", rpcError(-32_005), { kind: "unwell", rpcCode: -32_005 }],
  ["a limit", page(429, { "retry-after": "7" }), { kind: "rate_limited", retryAfterMs: 7000 }],
  ["a limit told as an error", rpcError(-32_429), { kind: "rate_limited", rpcCode: -32_429 }],
  ["a refusal", rpcError(-32_602), { kind: "refused", rpcCode: -32_602 }],
];

test.each(cases)(
  "%s names host, method, code and cure, and no key",
  async (_name, behaviour, told) => {
    using peer = new ScriptedPeer(behaviour);
    const { exit, logged } = await runOver(
      configOver([peer], { attemptsPerNode: 1 }),
      Effect.asVoid(Ledger.use((ledger) => ledger.genesisHash)),
    );
    const failure = failureOf(exit);
    expect(failure.fault).toMatchObject({
      node: `http://127.0.0.1:${peer.url.port}`,
      method: "getGenesisHash",
      cure: expect.stringMatching(/^[A-Z].*\.$/),
      ...told,
    });
    const shown = `${Bun.inspect(failure)} ${JSON.stringify(failure)} ${logged}`;
    for (const key of ["user-key", "pass-key", "path-key", "query-key"])
      expect(shown).not.toContain(key);
  },
);

test("the log names the method, the code and the cure", async () => {
  using peer = new ScriptedPeer(page(503));
  const { logged } = await runOver(
    configOver([peer], { attemptsPerNode: 1 }),
    Ledger.use((ledger) => ledger.genesisHash),
  );
  expect(logged).toContain("getGenesisHash: http_status (503). Look the status up");
});
