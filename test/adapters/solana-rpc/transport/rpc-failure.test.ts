import { expect, test } from "bun:test";
import * as kit from "@solana/kit";
import { Effect } from "effect";
import fc from "fast-check";
import * as codes from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";
import {
  redactedRpcAddress,
  retryAfterMs,
} from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, failureOf, runOver } from "../ledger-under-test.ts";
import { type Behaviour, page, rpcError, ScriptedPeer } from "../scripted-peer.ts";

test("the error codes are those that @solana/kit knows", () => {
  expect(
    [
      [
        codes.PREFLIGHT_FAILED,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
      ],
      [
        codes.SIGNATURE_VERIFICATION_FAILED,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
      ],
      [codes.NODE_UNHEALTHY, kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_NODE_UNHEALTHY],
      [
        codes.PRECOMPILE_VERIFICATION_FAILED,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_PRECOMPILE_VERIFICATION_FAILURE,
      ],
      [
        codes.KEY_EXCLUDED_FROM_INDEX,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_KEY_EXCLUDED_FROM_SECONDARY_INDEX,
      ],
      [
        codes.HISTORY_NOT_AVAILABLE,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_HISTORY_NOT_AVAILABLE,
      ],
      [codes.SCAN_FAILED, kit.SOLANA_ERROR__JSON_RPC__SCAN_ERROR],
      [
        codes.SIGNATURE_COUNT_MISMATCH,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_LEN_MISMATCH,
      ],
      [
        codes.UNSUPPORTED_TRANSACTION_VERSION,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
      ],
      [
        codes.MIN_CONTEXT_SLOT_NOT_REACHED,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_MIN_CONTEXT_SLOT_NOT_REACHED,
      ],
      [
        codes.LONG_TERM_STORAGE_UNREACHABLE,
        kit.SOLANA_ERROR__JSON_RPC__SERVER_ERROR_LONG_TERM_STORAGE_UNREACHABLE,
      ],
      [codes.METHOD_NOT_FOUND, kit.SOLANA_ERROR__JSON_RPC__METHOD_NOT_FOUND],
      [codes.INVALID_PARAMS, kit.SOLANA_ERROR__JSON_RPC__INVALID_PARAMS],
    ].filter(([ours, theirs]) => Number(ours) !== Number(theirs)),
  ).toEqual([]);
});

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

test.each([
  ["https://api.devnet.solana.com", "https://api.devnet.solana.com"],
  [
    "https://user:secret@node.example:8899/v2/secret?api-key=secret#secret",
    "https://node.example:8899",
  ],
  ["http://[::1]:8899/secret", "http://[::1]:8899"],
  ["secret", "unreadable address"],
  ["data:secret", "unreadable address"],
])("%s is shown as %s", (url, shown) => {
  expect(redactedRpcAddress(url)).toBe(shown);
});

test("no key shows, wherever it is in the address", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9]{8,40}$/), (key) => {
      for (const url of [
        `https://${key}:${key}@n.example`,
        `https://n.example/${key}?k=${key}#${key}`,
      ]) {
        expect(redactedRpcAddress(url)).toBe("https://n.example");
      }
    }),
  );
});

const NOW = Date.parse("2026-01-02T03:04:05Z");

test.each([
  ["120", 120_000],
  [" 0 ", 0],
  ["Fri, 02 Jan 2026 03:04:15 GMT", 10_000],
  ["Friday, 02-Jan-26 03:04:15 GMT", 10_000],
  ["Fri, 02 Jan 2026 03:00:00 GMT", 0],
])("Retry-After %s is a wait", (header, ms) => {
  expect(retryAfterMs(header, NOW)).toBe(ms);
});

test.each([[null], [""], ["soon"], ["-5"], ["1.5"], ["1e3"], ["2026-01-02"], ["Fri, the 13th"]])(
  "Retry-After %s says nothing",
  (header) => {
    expect(retryAfterMs(header, NOW)).toBeNull();
  },
);
