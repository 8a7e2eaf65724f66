import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ActionMetadataRecord } from "../../../../adapters/http/actions/action-contract.ts";
import { preparingService } from "../escrow/prepare/preparing-service.ts";
import { LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { AGENT, EXPIRES_AT, MERCHANT, merchant, MINT, STRANGER } from "../support/parties.ts";
import { checkedClient, jsonOf, makeSyncedService, problemOf } from "../support/service.ts";

const PUBLIC_URL = "https://pay.example";

let it: Awaited<ReturnType<typeof preparingService>>;
beforeAll(async () => {
  it = await preparingService({ publicUrl: PUBLIC_URL, corsOrigins: ["https://own.example"] });
});
afterAll(() => it.service.runtime.dispose());

const create = (more: Record<string, string> = {}): string =>
  `/v1/actions/create?${new URLSearchParams({
    merchant: MERCHANT,
    mint: MINT,
    amount_stroops: "1500000",
    ttl_seconds: "3600",
    task_intent: "GET /quotes",
    nonce: "order-1",
    ...more,
  }).toString()}`;

/** What a wallet shows of a create link, at a service with these merchants. */
const shown = async (
  merchants: ReadonlyArray<ReturnType<typeof merchant>>,
  more: Record<string, string> = {},
): Promise<ActionMetadataRecord> => {
  const service = await makeSyncedService({ publicUrl: PUBLIC_URL });
  service.seed({ merchants });
  const client = await checkedClient(service);
  await client.send("/v1/indexer/sync", { method: "POST" });
  const metadata = await jsonOf<ActionMetadataRecord>(await client.send(create(more)));
  await service.runtime.dispose();
  return metadata;
};

describe("the label of a create link", () => {
  test("tells how many others have the merchant's name", async () => {
    const [alone, twice, thrice] = [
      await shown([merchant()]),
      await shown([merchant(), merchant(STRANGER)]),
      await shown([merchant(), merchant(STRANGER), merchant(AGENT)]),
    ];
    expect(alone.label).toContain('("Test Quotes", a name that no other merchant has)');
    expect(twice.label).toContain('("Test Quotes", a name that 1 other merchant has)');
    expect(thrice.label).toContain('("Test Quotes", a name that 2 other merchants have)');
    for (const { label } of [alone, twice, thrice]) expect(label).toContain(MERCHANT);
    const lookalike = await shown([merchant(MERCHANT, "Test\u200b Quotes"), merchant(STRANGER)]);
    expect(lookalike.label).toContain('("Test[U+200B] Quotes", a name that 1 other merchant has)');
  });

  test("says of an unlisted mint that it is not listed, in base units", async () => {
    const { label } = await shown([merchant()], { mint: STRANGER });
    expect(label).toStartWith("Pay 1500000 base units into escrow");
    expect(label).toEndWith(`mint ${STRANGER}, which this service does not list`);
  });

  test("a task cannot change the text around it", async () => {
    const { description } = await shown([merchant()], { task_intent: 'a" \u202eb\u0007' });
    expect(description).toEndWith('The task: "a\\" [U+202E]b[U+0007]"');
    const long = await shown([merchant()], { task_intent: "x".repeat(4096) });
    expect(long.description).toEndWith(`The task: "${"x".repeat(200)}…"`);
  });
});

test("a refund has the bytes of the prepare operation", async () => {
  it.service.ledger.setClock(EXPIRES_AT);
  const prepared = await it.post(`${it.path}/refund/prepare?transaction=true`, { payer: STRANGER });
  const path = `/v1/actions/refund/${it.pending.address}`;
  const answer = await it.client.postJson(path, { account: STRANGER });
  const { transaction } = await jsonOf<{ transaction: string }>(answer);
  expect(transaction).toBe(prepared.data.transaction?.base64 ?? "");
  const again = await it.client.postJson(path, { account: STRANGER });
  expect(await jsonOf<{ transaction: string }>(again)).toMatchObject({ transaction });
});

test("wallets may call an action from any page, whatever the configured origins are", async () => {
  const headers = { origin: "https://wallet.example" };
  const action = await it.client.send(`/v1/actions/refund/${it.pending.address}`, { headers });
  const read = await it.client.send(it.path, { headers });
  const allowed = (response: Response) => response.headers.get("access-control-allow-origin");
  expect([allowed(action), allowed(read)]).toEqual(["*", null]);
});

test("without a public address there is no action, and nothing else changes", async () => {
  const off = await preparingService();
  for (const path of [create(), `/v1/actions/refund/${off.pending.address}`]) {
    expect(await problemOf(await off.client.send(path))).toBe("404 wallet_links_off");
    expect(await problemOf(await off.client.postJson(path, { account: AGENT }))).toBe(
      "404 wallet_links_off",
    );
  }
  expect((await off.client.send("/icon.svg")).status).toBe(200);
  await off.service.runtime.dispose();
});

test("a ledger that does not answer leaves its name out, and the problem has a message", async () => {
  const down = await preparingService({ publicUrl: PUBLIC_URL });
  const path = `/v1/actions/refund/${down.pending.address}`;
  down.service.ledger.fault = new LedgerUnavailable({ retryable: true, cause: "down" });
  const answer = await down.client.send(path);
  expect([answer.status, answer.headers.get("x-action-version")]).toEqual([502, "2.4"]);
  expect((await jsonOf<{ message: string }>(answer)).message).toContain("Ask again");
  await down.service.runtime.dispose();
});
