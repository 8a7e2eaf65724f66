import { createHash } from "node:crypto";
import { MINT } from "../../../adapters/http/support/parties.ts";
import type { Json } from "../../../../core/domain/encoding/canonical-json.ts";
import { type Exchange, get, post } from "../exchange.ts";
import { ledgerDown } from "../world/conditions.ts";
import { FULFILLED, PENDING } from "../world/escrows.ts";
import { AGENT, MERCHANT, STRANGER } from "../world/parties.ts";
import { registration, signatureOf } from "../world/transactions.ts";
import { PRIVATE_KEY } from "./private-key.ts";
import { landed } from "./relay/relay.ts";

type Params = { readonly [name: string]: Json };
type More = Partial<Exchange>;

/** The newest revision, in which each request names its client. */
const REVISION = "2026-07-28";
const member = (name: string): string => `io.modelcontextprotocol/${name}`;
const CLIENT = { name: "recorder", version: "1" };
const ENVELOPE = {
  [member("protocolVersion")]: REVISION,
  [member("clientInfo")]: CLIENT,
  [member("clientCapabilities")]: { elicitation: {} },
};

const message = (title: string, body: unknown, more: More = {}): Exchange =>
  post("callMcp", title, "/mcp", body, more);

/** A request in a revision before the newest. */
const earlier = (title: string, method: string, params: Params = {}, more: More = {}): Exchange =>
  message(title, { jsonrpc: "2.0", id: 1, method, params }, more);

/** A request in the newest revision. */
const newest = (title: string, method: string, params: Params = {}, more: More = {}): Exchange => {
  const name = params["name"] ?? params["uri"];
  const headers = {
    "mcp-protocol-version": REVISION,
    "mcp-method": method,
    ...(typeof name === "string" ? { "mcp-name": name } : {}),
  };
  const body = { jsonrpc: "2.0", id: "a", method, params: { ...params, _meta: ENVELOPE } };
  return message(title, body, { ...more, headers });
};

const call = (name: string, title: string, args: Json, more: More = {}, params: Params = {}) =>
  newest(`${name}: ${title}`, "tools/call", { name, arguments: args, ...params }, more);

const PAYMENT = {
  agent: AGENT.address,
  merchant: MERCHANT.wallet,
  mint: MINT,
  amount: "1500000",
  ttl_seconds: 3600,
  task: "GET https://api.example.com/v1/quotes?symbol=SOL",
  nonce: "order-1",
};

const tools: ReadonlyArray<Exchange> = [
  call("service_status", "all is well", {}),
  call("service_status", "the ledger is down", {}, { given: ledgerDown }),
  call("find_merchants", "by name", { q: "Skyline" }),
  call("prepare_payment", "a payment", PAYMENT),
  call("prepare_payment", "an amount that is a number", { ...PAYMENT, amount: 1_500_000 }),
  call("read_escrow", "Pending", { escrow: PENDING.address }),
  call("read_escrow", "no such escrow", { escrow: STRANGER.address }),
  call("read_escrow", "a private key", { escrow: PRIVATE_KEY }),
  call("read_escrow", "no arguments", {}),
  call("read_escrow", "the ledger is down", { escrow: PENDING.address }, { given: ledgerDown }),
  call("read_evidence", "Fulfilled", { escrow: FULFILLED.address }),
  call("drain_wallet", "no such tool", {}),
];

const TRANSACTION = registration("of an MCP client");
const SIGNED = { signed_transaction: TRANSACTION };
/** The answer of a client's person to the question about the transaction. */
const answered = (send: boolean): Params => ({
  requestState: createHash("sha256").update(TRANSACTION, "base64").digest("hex"),
  inputResponses: { consent: { action: "accept", content: { send } } },
});

const relaying: ReadonlyArray<Exchange> = [
  call("relay_transaction", "the person is asked", SIGNED),
  call("relay_transaction", "the person declines", SIGNED, {}, answered(false)),
  call(
    "relay_transaction",
    "the person confirms",
    SIGNED,
    {
      given: (world) => {
        world.ledger.onSend = () => landed("confirmed")(world);
      },
    },
    answered(true),
  ),
  call("relay_transaction", "a private key", { signed_transaction: PRIVATE_KEY }),
  earlier("relay_transaction: a client that cannot ask its person", "tools/call", {
    name: "relay_transaction",
    arguments: SIGNED,
  }),
  call("relay_outcome", "of a transaction", { signature: signatureOf(TRANSACTION) }),
];

/** What MCP clients are answered. */
export const mcpExchanges: ReadonlyArray<Exchange> = [
  earlier("initialize", "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: CLIENT,
  }),
  message("a notification", { jsonrpc: "2.0", method: "notifications/initialized" }),
  message("an answer that nobody asked for", { jsonrpc: "2.0", id: 3, result: {} }),
  earlier("ping", "ping"),
  earlier("the tools", "tools/list"),
  newest("the tools, in the newest revision", "tools/list"),
  newest("what the server is, in the newest revision", "server/discover"),
  newest("the resources", "resources/list"),
  newest("the templates of resources", "resources/templates/list"),
  newest("a resource", "resources/read", { uri: "settlement://template/api-delivered-v1" }),
  newest("a resource that does not exist", "resources/read", { uri: "settlement://nothing" }),
  newest("an escrow that does not exist, as a resource", "resources/read", {
    uri: `settlement://escrow/${STRANGER.address}`,
  }),
  newest("listening", "subscriptions/listen"),
  newest("an unknown method", "wallets/drain"),
  earlier("an unknown method, in an earlier revision", "wallets/drain"),
  earlier(
    "an unknown revision",
    "tools/list",
    {},
    { headers: { "mcp-protocol-version": "1999-01-01" } },
  ),
  message("no message of the protocol", {}),
  message("an id that is an object", { jsonrpc: "2.0", id: {}, method: "ping" }),
  message("a batch", [{ jsonrpc: "2.0", id: 1, method: "ping" }]),
  get("callMcp", "a stream", "/mcp", { headers: { accept: "text/event-stream" } }),
  earlier(
    "from a page on the same machine",
    "ping",
    {},
    { headers: { origin: "http://localhost:8080" } },
  ),
  earlier(
    "from a page of another origin",
    "ping",
    {},
    { headers: { origin: "https://other.example" } },
  ),
  ...tools,
  ...relaying,
];

/** What they are answered when the client has one request left: the tool's own operation is refused. */
export const mcpLastOfBudgetExchanges: ReadonlyArray<Exchange> = [
  call("service_status", "rate limit: the last request", {}),
];
