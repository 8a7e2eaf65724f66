import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { declaredTools } from "../../../client/mcp/mcp-server.ts";
import { AGREES, type McpClient, modernClient } from "./mcp-clients.ts";
import { AGENT, MERCHANT, startMcpService } from "./mcp-service.ts";

let service: Awaited<ReturnType<typeof startMcpService>>;
let client: McpClient;

beforeAll(async () => {
  service = await startMcpService();
  client = await modernClient({ url: `${service.url}/mcp` }, AGREES);
}, 60_000);
afterAll(async () => {
  await client.close();
  await service.stop();
});

const NOBODY = AGENT.address;
const PAYMENT = {
  agent: AGENT.address,
  merchant: MERCHANT.address,
  mint: LOCAL_USDC_MINT,
  amount: "1000000",
  ttl_seconds: 3600,
  task: "GET https://api.example.com",
  nonce: "bad-input",
};
const RELEASE = {
  escrow: NOBODY,
  action: "release",
  payer: AGENT.address,
  proof_hash: "ab".repeat(32),
  timestamp: "2026-11-22T02:16:49Z",
  attestation_signature: "AAAA",
};

/** By tool: wrong arguments, and what the one line says. */
const WRONG: Readonly<Record<string, ReadonlyArray<readonly [object, RegExp]>>> = {
  service_status: [[{ verbose: true }, /^validation_failed: verbose is not known\./]],
  find_merchants: [
    [{ q: "" }, /^validation_failed: q must not be empty\./],
    [{ q: "x".repeat(101) }, /^validation_failed: q must have at most 100 characters/],
    [{ min_reputation: -1 }, /^validation_failed: min_reputation must be an integer from 0/],
    [{ cursor: "zzz" }, /^malformed_cursor: /],
  ],
  find_escrows: [
    [{ agent: "me" }, /^validation_failed: agent must be an address: base58 of 32 bytes\./],
    [{ state: "Done" }, /^validation_failed: state must be one of Pending, /],
    [{ refundable: "yes" }, /^validation_failed: refundable must be true or false\./],
  ],
  read_escrow: [
    [
      {},
      /^validation_failed: escrow is required\. Correct the call; the arguments are escrow, until\./,
    ],
    [{ escrow: ".." }, /^validation_failed: escrow must be an address/],
    [
      { escrow: NOBODY, until: "soon" },
      /^validation_failed: until must be one of confirmed, final/,
    ],
    [{ escrow: NOBODY, until: "final" }, /^not_an_escrow: |^escrow_not_found: /],
    [{ escrow: NOBODY }, /^not_an_escrow: |^escrow_not_found: /],
  ],
  prepare_payment: [
    [{}, /^validation_failed: agent is required; merchant is required; /],
    [{ ...PAYMENT, amount: 5 }, /^validation_failed: amount must be a string\./],
    [{ ...PAYMENT, amount: "1.5" }, /^validation_failed: amount /],
    [{ ...PAYMENT, amount: "-1" }, /^validation_failed: amount /],
    [
      { ...PAYMENT, ttl_seconds: 0 },
      /^validation_failed: ttl_seconds must be an integer from 1 to 604800\./,
    ],
    [{ ...PAYMENT, task: "a\u0000b" }, /^validation_failed: task /],
    [{ ...PAYMENT, merchant: AGENT.address }, /^wrong_state: .*merchant/],
    [{ ...PAYMENT, amount: "9999999999999999" }, /^wrong_state: /],
    [{ ...PAYMENT, secret_key: "x" }, /^validation_failed: secret_key is not known\./],
  ],
  prepare_attestation: [
    [{ escrow: NOBODY }, /^validation_failed: |^not_an_escrow: |^escrow_not_found: /],
    [{ escrow: NOBODY, payload: [] }, /^validation_failed: payload must be an object\./],
    [{ escrow: NOBODY, proof_hash: "ab" }, /^validation_failed: proof_hash /],
  ],
  prepare_settlement: [
    [{ escrow: NOBODY, action: "steal" }, /^validation_failed: action must be one of release, /],
    [{ escrow: NOBODY, action: "refund" }, /^validation_failed: refund needs payer\./],
    [
      { escrow: NOBODY, action: "release", payer: NOBODY },
      /^validation_failed: release needs proof_hash, timestamp, attestation_signature\./,
    ],
    [
      { escrow: NOBODY, action: "cancel", amount: "5" },
      /^validation_failed: cancel does not take amount\./,
    ],
    [RELEASE, /^validation_failed: attestation_signature /],
    [{ escrow: NOBODY, action: "refund", payer: NOBODY }, /^not_an_escrow: |^escrow_not_found: /],
  ],
  relay_transaction: [
    [
      { signed_transaction: "not base64!" },
      /^transaction_malformed: The transaction is not base64; nothing was sent\./,
    ],
    [{ signed_transaction: "AAAA" }, /^transaction_malformed: .*nothing was sent\./],
    [
      { signed_transaction: "A".repeat(5000) },
      /^validation_failed: signed_transaction must have at most 4096 characters\./,
    ],
    [
      { transaction: "AAAA" },
      /^validation_failed: signed_transaction is required; transaction is not known\./,
    ],
  ],
  relay_outcome: [
    [{ signature: "abc" }, /^validation_failed: signature must be a transaction's signature/],
    [{ signature: "1".repeat(64) }, /^transaction_not_found: (?!.*1{9})/],
  ],
  read_evidence: [
    [{ escrow: "../status" }, /^validation_failed: escrow must be an address/],
    [{ escrow: NOBODY }, /^not_an_escrow: |^escrow_not_found: /],
    [{ escrow: NOBODY, payload: "x" }, /^validation_failed: payload must be an object\./],
  ],
};

/** How many requests of the relay the service has answered. */
const relayed = async (): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text();
  const counts = [
    ...text.matchAll(/http_requests_total\{method="POST",route="\/v1\/relay",.*?\} (\d+)/g),
  ];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
};

test("wrong arguments are tried on every tool", () => {
  expect(Object.keys(WRONG).sort()).toEqual(
    declaredTools()
      .map(({ name }) => name)
      .sort(),
  );
});

describe.each(Object.entries(WRONG))("%s", (name, cases) => {
  test.each(cases)("given %j it says in one line what is wrong", async (args, expected) => {
    const before = await relayed();
    const { isError, text } = await client.call(name, args as Readonly<Record<string, unknown>>);
    expect([isError, text]).toEqual([true, expect.stringMatching(expected)]);
    expect(text).not.toInclude("\n");
    // The code, what is wrong, and the cure.
    expect(text).toMatch(/^[a-z_]+: .+\. [A-Z].+\.$/s);
    expect(await relayed()).toBe(before);
    expect(client.asked).toEqual([]);
  });
});

test.each([
  ["settlement://nothing", /There is no resource settlement:\/\/nothing\. Read a URI of/],
  ["settlement://evidence/../v1/status", /There is no resource/],
  ["file:///etc/passwd", /There is no resource file:\/\/\/etc\/passwd\./],
  [`settlement://escrow/${AGENT.address}`, /not_an_escrow: |escrow_not_found: /],
  ["settlement://template/none", /proof_template_not_found: /],
])("the resource %s is refused in one line", async (uri, expected) => {
  const failure = await client.read(uri).catch((cause: Error) => cause);
  expect(failure).toBeInstanceOf(Error);
  expect((failure as Error).message).toMatch(expected);
  expect((failure as Error).message).not.toInclude("\n");
});

test("every resource that is listed can be read, byte for byte as the service answers it", async () => {
  for (const [uri, path] of [
    ["settlement://guide", "/llms.txt"],
    ["settlement://trust", "/.well-known/evidence-trust.json"],
    ["settlement://templates", "/v1/proof-templates"],
    ["settlement://template/api-delivered-v1", "/v1/proof-templates/api-delivered-v1"],
  ] as const)
    expect(await client.read(uri)).toBe(await (await fetch(service.url + path)).text());
});
