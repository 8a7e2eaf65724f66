import { describe, expect, test } from "bun:test";
import { computeUnitLimit } from "../../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { localKey } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { MEMO_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { MERCHANT } from "../support/parties.ts";
import { checkedClient, makeService, problemOf } from "../support/service.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";
import { standing } from "../support/standing-service.ts";

type Checked = Awaited<ReturnType<typeof checkedClient>>;
type Reply = {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>> & {
    readonly content?: ReadonlyArray<{ readonly text?: string }>;
  };
  readonly error?: { readonly code: number; readonly message: string };
};

const REVISION = "2026-07-28";
const key = (name: string): string => `io.modelcontextprotocol/${name}`;
const envelope = (capabilities: object) => ({
  [key("protocolVersion")]: REVISION,
  [key("clientInfo")]: { name: "test", version: "1" },
  [key("clientCapabilities")]: capabilities,
});

const { service, client } = await standing();

const posted = (
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
  to: Checked = client,
): Promise<Response> =>
  to.send("/mcp", {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const replyTo = async (
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): Promise<readonly [number, Reply]> => {
  const response = await posted(body, headers);
  return [response.status, (await response.json()) as Reply];
};

/** A call of a tool in revision 2026-07-28. */
const call = async (
  name: string,
  args: object,
  more: object = {},
  capabilities: object = { elicitation: {} },
): Promise<Reply> => {
  const params = { name, arguments: args, _meta: envelope(capabilities), ...more };
  const [, reply] = await replyTo(
    { jsonrpc: "2.0", id: 1, method: "tools/call", params },
    { "mcp-protocol-version": REVISION, "mcp-method": "tools/call", "mcp-name": name },
  );
  return reply;
};
const textOf = ({ result }: Reply): string => result?.content?.[0]?.text ?? "";

const list = { jsonrpc: "2.0", id: 7, method: "tools/list" };

describe("messages", () => {
  test("a batch of a thousand is refused whole", async () => {
    const batch = Array.from({ length: 1000 }, (_, id) => ({ ...list, id }));
    expect(await problemOf(await posted(batch))).toBe("413 payload_too_large");
    expect(await problemOf(await posted(batch.slice(0, 200)))).toBe("422 validation_failed");
    expect(await problemOf(await posted(batch.slice(0, 3)))).toBe("422 validation_failed");
  });

  test.each([
    ["", "400 malformed_json"],
    ["{", "400 malformed_json"],
    ['{"a":1,"a":2}', "400 malformed_json"],
    ['"text"', "422 validation_failed"],
    ["null", "422 validation_failed"],
    ['{"hello":1}', "422 validation_failed"],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', "422 validation_failed"],
    [`"${"x".repeat(300_000)}"`, "413 payload_too_large"],
  ])("a body %j is a problem", async (body, expected) => {
    expect(await problemOf(await posted(body))).toBe(expected);
  });

  test("what is JSON and no message of the protocol is a JSON-RPC error", async () => {
    for (const body of [{}, { jsonrpc: "1.0", id: 1, method: "ping" }]) {
      const [status, { error }] = await replyTo(body);
      expect([status, error?.code]).toEqual([400, -32600]);
    }
  });

  test("arguments of 16,000 characters are refused in one short line", async () => {
    const reply = await call("find_merchants", { q: "x".repeat(16_000) });
    expect(textOf(reply)).toStartWith("validation_failed: q must have at most 4096 characters.");
    const named = await call("find_merchants", { ["n".repeat(16_000)]: 1 });
    expect(textOf(named)).toStartWith(`validation_failed: ${"n".repeat(8)}… is not known.`);
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`a${i}`, 1]));
    expect(textOf(await call("service_status", many)).length).toBeLessThan(300);
    for (const args of [[], "x", 5])
      expect((await call("service_status", args as object)).error?.code).toBe(-32602);
  });
});

describe("revisions", () => {
  test("an unknown one is refused, with those that are served", async () => {
    const [status, { error }] = await replyTo(list, { "mcp-protocol-version": "1999-01-01" });
    expect(status).toBe(400);
    expect(error?.message).toInclude("2025-11-25");
    const params = { _meta: { ...envelope({}), [key("protocolVersion")]: "2099-01-01" } };
    const [later, refused] = await replyTo({ ...list, params });
    expect([later, refused.error?.code]).toEqual([400, -32022]);
  });

  test("a header that contradicts the message is refused", async () => {
    const message = { ...list, params: { _meta: envelope({}) } };
    const headers = { "mcp-protocol-version": REVISION, "mcp-method": "tools/call" };
    expect((await replyTo(message, headers))[0]).toBe(400);
    expect((await replyTo(list, { "mcp-protocol-version": REVISION }))[0]).toBe(400);
  });

  test.each(["2025-11-25", "2025-06-18", "2025-03-26"])(
    "initialize in %s works",
    async (revision) => {
      const params = {
        protocolVersion: revision,
        capabilities: {},
        clientInfo: { name: "test", version: "1" },
      };
      const [status, { result }] = await replyTo({ ...list, method: "initialize", params });
      expect([status, result?.["protocolVersion"]]).toEqual([200, revision]);
    },
  );
});

describe("pages in browsers", () => {
  test.each([
    ["https://stranger.example", false],
    ["null", false],
    ["*", false],
    ["http://localhost.stranger.example", false],
    ["http://127.0.0.1.stranger.example:3000", false],
    ["http://localhost:8080", true],
    ["http://127.0.0.1:3000", true],
    ["http://[::1]:3000", true],
  ])("of %s: allowed %p", async (origin, isAllowed) => {
    const response = await posted(list, { origin });
    if (isAllowed) expect(response.status).toBe(200);
    else expect(await problemOf(response)).toBe("403 origin_not_allowed");
    // `*` opens reads to every page, and never this.
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("a name that leads here proves nothing", async () => {
    const headers = { host: "stranger.example:3000", origin: "http://stranger.example:3000" };
    expect(await problemOf(await posted(list, headers))).toBe("403 origin_not_allowed");
  });

  test("a listed origin is served, and its preflight lets the protocol's headers through", async () => {
    const listed = await makeService({ corsOrigins: ["*", "https://ours.example"] });
    const to = await checkedClient(listed);
    const headers = { origin: "https://ours.example" };
    const response = await posted(list, headers, to);
    expect(response.status).toBe(200);
    expect(response.headers.get("access-control-allow-origin")).toBe("https://ours.example");
    const preflight = await to.send("/mcp", {
      method: "OPTIONS",
      headers: { ...headers, "access-control-request-method": "POST" },
    });
    expect(preflight.headers.get("access-control-allow-headers")).toInclude("mcp-protocol-version");
    await listed.runtime.dispose();
  });
});

test("a call costs one read and its operation's cost, and the last is refused", async () => {
  const poor = await makeService({ limit: 3, clock: patientClock() });
  const to = await checkedClient(poor);
  const params = { name: "service_status", arguments: {} };
  const message = { ...list, method: "tools/call", params };
  const first = (await (await posted(message, {}, to)).json()) as Reply;
  expect(first.result?.["isError"]).toBeUndefined();
  const second = (await (await posted(message, {}, to)).json()) as Reply;
  expect(second.result?.["isError"]).toBe(true);
  expect(textOf(second)).toStartWith("rate_limited: ");
  expect(await problemOf(await posted(message, {}, to))).toBe("429 rate_limited");
  await poor.runtime.dispose();
});

describe("relaying", () => {
  const stranger = localKey("agent/trader");
  const blockhash = "11111111111111111111111111111111";
  const memo = (data: Uint8Array) => ({ programAddress: MEMO_PROGRAM, accounts: [], data });
  const signedBy = (instructions: Parameters<typeof signedTransaction>[0]["instructions"]) =>
    encodeBase64(signedTransaction({ payer: stranger, instructions, blockhash }));
  const foreign = signedBy([computeUnitLimit(1000), memo(new Uint8Array([1]))]);
  const register = signedBy([
    registerMerchantInstruction(LOCAL_DEPLOYMENT, {
      payer: stranger.address,
      merchant: stranger.address,
      attestor: MERCHANT,
      name: "Stranger",
    }),
  ]);

  type Asked = {
    readonly resultType: string;
    readonly requestState: string;
    readonly inputRequests: { readonly consent: { readonly params: { readonly message: string } } };
  };
  const askedOf = ({ result }: Reply): Asked => result as unknown as Asked;
  const accepted = { consent: { action: "accept", content: { send: true } } };

  test("the person sees what a transaction does that was not prepared here", async () => {
    const asked = askedOf(await call("relay_transaction", { signed_transaction: foreign }));
    expect(asked.resultType).toBe("input_required");
    const { message } = asked.inputRequests.consent.params;
    expect(message).toInclude(`It will: call another program, ${MEMO_PROGRAM}.`);
    expect(message).toInclude(`Fee payer: ${stranger.address}.`);
    const other = askedOf(await call("relay_transaction", { signed_transaction: register }));
    expect(other.inputRequests.consent.params.message).toInclude(
      `REGISTER MERCHANT for merchant ${stranger.address}`,
    );
  });

  test("confirmed, it meets the relay's own rules", async () => {
    const asked = askedOf(await call("relay_transaction", { signed_transaction: foreign }));
    const reply = await call(
      "relay_transaction",
      { signed_transaction: foreign },
      { inputResponses: accepted, requestState: asked.requestState },
    );
    expect(textOf(reply)).toStartWith("program_not_allowed: ");
    expect(textOf(reply)).toInclude("Its signature is ");
  });

  test("an answer about another transaction, or about none, confirms nothing: the question comes again", async () => {
    const { requestState } = askedOf(
      await call("relay_transaction", { signed_transaction: foreign }),
    );
    for (const more of [
      { inputResponses: accepted, requestState },
      { inputResponses: accepted },
      { inputResponses: accepted, requestState: "x" },
      { inputResponses: { other: accepted.consent }, requestState },
    ]) {
      const reply = await call("relay_transaction", { signed_transaction: register }, more);
      expect(askedOf(reply).resultType).toBe("input_required");
    }
  });

  test.each([{}, { elicitation: { url: {} } }, { sampling: {} }])(
    "a client that declares %j cannot be asked",
    async (capabilities) => {
      const args = { signed_transaction: register };
      const forged = { inputResponses: {}, requestState: "x" };
      const reply = await call("relay_transaction", args, forged, capabilities);
      expect(textOf(reply)).toStartWith("cannot_ask: ");
    },
  );

  test("a key instead of a transaction is refused unread, and not repeated", async () => {
    const seed = encodeBase64(new Uint8Array(64).fill(7));
    const reply = await call("relay_transaction", { signed_transaction: seed });
    expect(textOf(reply)).toStartWith("transaction_malformed: ");
    expect(JSON.stringify(reply)).not.toInclude(seed);
    expect(JSON.stringify(service.lines)).not.toInclude(seed);
  });
});

test("a bug is a 500 without detail, and the operator's log has its cause", async () => {
  const broken = await makeService({ mcp: () => Promise.reject(new Error("a planted bug")) });
  const to = await checkedClient(broken);
  const response = await posted(list, {}, to);
  const text = await response.clone().text();
  expect(await problemOf(response)).toBe("500 internal_error");
  expect(text).not.toInclude("planted");
  expect(JSON.stringify(broken.lines)).toInclude("a planted bug");
  await broken.runtime.dispose();
});
