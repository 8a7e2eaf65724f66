import { expect, test } from "bun:test";
import type { EscrowRecord } from "../../../adapters/http/escrow/escrow-contract.ts";
import type { SettlementEventRecord } from "../../../adapters/http/index/event-contract.ts";
import { buy, registerMerchant } from "../../../app/demo/run-demo.ts";
import { openStage } from "../../../app/demo/stage.ts";
import { silentNarrator } from "../commands/silent-narrator.ts";
import { latestBlockhash, until, synced } from "../support/running-service.ts";
import { openRegistration } from "../support/open-registration.ts";
import { startedServices } from "../support/started-services.ts";

const { alone, start } = startedServices();

type Rows<A> = { readonly data: ReadonlyArray<A> };

const rowsOf = async (url: string) => {
  const rows = async <A>(list: string) =>
    ((await (await fetch(`${url}/v1/${list}?limit=500`)).json()) as Rows<A>).data;
  return {
    escrows: await rows<EscrowRecord>("indexer"),
    events: await rows<SettlementEventRecord>("indexer/events"),
  };
};

test("a service killed right after a relay has lost nothing when it restarts", async () => {
  const env = await alone();
  const first = start(env);
  const url = await first.url;
  await synced(url);
  const before = await rowsOf(url);
  const stage = await openStage(url, silentNarrator);
  await registerMerchant(stage);
  const relayed = await buy(stage, { units: 7n, ttl: 600 });
  first.kill("SIGKILL");
  await first.ended;

  const second = start(env);
  const again = await second.url;
  await synced(again);
  const after = await rowsOf(again);
  // What a session has used stands on the ledger alone while it is open.
  const unused = { released_stroops: "0", left_stroops: "7", deliveries: 0 };
  expect<object>({ ...after.escrows[0], ...unused, archived: null }).toEqual(relayed);
  expect(after.escrows.slice(1)).toEqual([...before.escrows]);
  expect(after.events.slice(1)).toEqual([...before.events]);

  second.kill("SIGTERM");
  const { code, stdout } = await second.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('"message":"stopping","by":"SIGTERM"');
}, 60_000);

test("a request that a kill cut off is taken again at once under its Idempotency-Key", async () => {
  const env = await alone();
  const first = start(env);
  const url = await first.url;
  await synced(url);
  const { parties } = await openStage(url, silentNarrator);
  const { transaction, signature } = openRegistration(
    parties,
    await latestBlockhash(url),
    "Cut Off Quotes",
  );
  const relay = (to: string) =>
    fetch(`${to}/v1/relay`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "order-1" },
      body: JSON.stringify({ signed_transaction: transaction, confirm: true }),
    });
  // A confirmation takes until the slot ends, so the request is still open when the service is killed.
  const cutOff = relay(url).catch(() => null);
  await until(
    "the relay has its request",
    () => fetch(`${url}/v1/relay/${signature}`).then(({ status }) => status),
    (status) => status === 200,
  );
  first.kill("SIGKILL");
  await first.ended;
  expect(await cutOff).toBeNull();

  const second = start(env);
  const again = await second.url;
  await synced(again);
  const { status } = await relay(again);
  expect(status).toBe(202);
  second.kill("SIGTERM");
  await second.ended;
}, 60_000);
