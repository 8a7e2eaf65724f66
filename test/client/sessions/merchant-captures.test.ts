import { afterAll, beforeAll, expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connectMerchant } from "../../../client/merchant.ts";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import type { AgentContext } from "../../../client/sessions/agent/send-call.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { sessionSeller } from "../../../client/sessions.ts";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { decodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { readCalls } from "../../../core/protocol/instructions/program-call.ts";
import { decodeWireTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import { deploymentIn } from "../../../client/pay/payment-terms.ts";
import { until } from "../../app/support/running-service.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import { attestorKey, merchantKey, payerKey, sellerFixture, signerOf } from "./seller-fixture.ts";

let fixture: Awaited<ReturnType<typeof sellerFixture>>;
beforeAll(async () => {
  fixture = await sellerFixture();
}, 120_000);
afterAll(() => fixture.stop());

const URL = "https://api.example.com/quotes";
const LIMIT = 10_000n;

/** A seller that captures nothing by itself, and the calls in each transaction that its merchant sends. */
const merchantWith = async (names: ReadonlyArray<string>) => {
  const seller = sessionSeller({
    service: fixture.service.url,
    trust: fixture.trust,
    rpc: fixture.rpc,
    merchant: merchantKey.address,
    attestor: signerOf(attestorKey),
    payer: signerOf(payerKey),
    store: memorySessions(new SharedSessions()),
    webSocket: null,
  });
  const sent: Array<ReadonlyArray<string>> = [];
  const watching: Fetch = (url, init) => {
    if (url.endsWith("/v1/relay") && typeof init.body === "string") {
      const { signed_transaction: base64 } = JSON.parse(init.body) as {
        readonly signed_transaction: string;
      };
      const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
      if ("malformed" in decoded) throw new Error(decoded.malformed);
      const calls = readCalls(decoded.value.instructions, [], deploymentIn(fixture.policy));
      sent.push(calls.flatMap((call) => (call === undefined ? [] : [call.name])));
    }
    return fetch(url, init);
  };
  const merchant = connectMerchant(fixture.service.url, { trust: fixture.trust, fetch: watching });
  const agents: Array<AgentContext> = [];
  for (const name of names) {
    const agent: AgentContext = {
      ...(await fixture.open(name)),
      fetch: (url, init) =>
        seller.handle(new Request(url, init), "0.01", () => Response.json({ ok: true })),
    };
    await callOnce(agent, { url: URL, limit: LIMIT });
    agents.push(agent);
  }
  return { seller, merchant, sent, agents };
};

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "taken",
    (cause: unknown) => (cause instanceof SettlementError ? cause.code : String(cause)),
  );

const wallet = signerOf(merchantKey);

test("a cancelled session's debt is captured in the transaction that cancels it", async () => {
  const { seller, merchant, sent, agents } = await merchantWith(["cancelled"]);
  const escrow = agents[0]?.session.escrow ?? "";
  const cancelled = await merchant.cancel({ escrow, wallet, seller });
  expect([cancelled.refunded, sent]).toEqual(["990000", [["capture", "cancel_escrow"]]]);
  expect(await fixture.read(escrow)).toMatchObject({
    released_stroops: "10000",
    settled_by: "cancel",
  });
  await seller.close();
}, 60_000);

test("a revocation captures what is owed in its own transaction, and nothing is delivered after it", async () => {
  const { seller, merchant, sent, agents } = await merchantWith(["one"]);
  const attestor = localKey("attestor/next").address;
  await merchant.rotate({ wallet, attestor, compromised: true, seller });
  expect(sent).toEqual([["capture", "rotate_attestor"]]);
  const [agent] = agents;
  if (agent === undefined) throw new Error("no agent");
  expect((await fixture.read(agent.session.escrow)).released_stroops).toBe("10000");
  await until(
    "the seller sees that its attestor is revoked",
    async () => {
      await seller.captureAll();
      return codeOf(callOnce(agent, { url: URL, limit: LIMIT }));
    },
    (code) => code === "attestor_revoked",
  );
  await seller.close().catch(() => undefined);
}, 60_000);

test("of several sessions all are captured before the key changes", async () => {
  const { merchant } = await merchantWith([]);
  await merchant.rotate({ wallet, attestor: attestorKey.address });
  const { seller, merchant: revoking, sent, agents } = await merchantWith(["two", "three"]);
  const attestor = localKey("attestor/third").address;
  await revoking.rotate({ wallet, attestor, compromised: true, seller });
  // The seller sent the captures, by its own connection.
  expect(sent).toEqual([["rotate_attestor"]]);
  for (const { session } of agents)
    expect((await fixture.read(session.escrow)).released_stroops).toBe("10000");
  await seller.close();
}, 60_000);
