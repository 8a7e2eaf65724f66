import { afterAll, expect, test } from "bun:test";
import type { EscrowRecord } from "../../adapters/http/schemas/escrow.ts";
import type { SettlementEventRecord } from "../../adapters/http/schemas/event.ts";
import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/local-keys.ts";
import { registerMerchantInstruction } from "../../core/protocol/attestor-instructions.ts";
import { openEscrow } from "../../app/demo/open-escrow.ts";
import { openStage, registerMerchant } from "../../app/demo/stage.ts";
import { quietEnvironment, temporaryDirectory, until } from "./running-service.ts";
import { MAIN, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { silentNarrator } from "./silent-narrator.ts";

type Temporary = Awaited<ReturnType<typeof temporaryDirectory>>;

const directories: Array<Temporary> = [];

const started: Array<ServiceProcess> = [];

const start = (env: Readonly<Record<string, string>>): ServiceProcess => {
  const service = startServiceProcess(env);
  started.push(service);
  return service;
};

/** The settings of a service on a directory of its own. */
const alone = async () => {
  const directory = await temporaryDirectory();
  directories.push(directory);
  return { ...quietEnvironment(directory.path), LOG_LEVEL: "info" };
};

type Rows<A> = { readonly data: ReadonlyArray<A> };

const rowsOf = async (url: string) => {
  const rows = async <A>(list: string) =>
    ((await (await fetch(`${url}/v1/${list}?limit=500`)).json()) as Rows<A>).data;
  return {
    escrows: await rows<EscrowRecord>("indexer"),
    events: await rows<SettlementEventRecord>("indexer/events"),
  };
};

const synced = async (url: string): Promise<void> => {
  await until(
    "the service is ready",
    () => fetch(`${url}/ready`).then(({ status }) => status),
    (status) => status === 200,
  );
  await until(
    "a sync completes",
    () => fetch(`${url}/v1/indexer/sync`, { method: "POST" }).then(({ status }) => status),
    (status) => status === 202,
  );
};

afterAll(async () => {
  for (const service of started) service.kill("SIGKILL");
  await Promise.all(started.map(({ ended }) => ended));
  await Promise.all(directories.map(({ remove }) => remove()));
});

test.concurrent("killed right after it has relayed, and started again, the service has lost nothing", async () => {
  const env = await alone();
  const first = start(env);
  const url = await first.url;
  await synced(url);
  const before = await rowsOf(url);
  const stage = await openStage(url, LOCAL_USDC_MINT, silentNarrator);
  await registerMerchant(stage);
  const relayed = await openEscrow(stage, {
    intent: "GET /quotes",
    amountStroops: "7",
    ttlSeconds: 600,
  });
  first.kill("SIGKILL");
  await first.ended;

  const second = start(env);
  const again = await second.url;
  await synced(again);
  const after = await rowsOf(again);
  expect(after.escrows[0]).toEqual(relayed);
  expect(after.escrows.slice(1)).toEqual([...before.escrows]);
  expect(after.events.slice(1)).toEqual([...before.events]);

  second.kill("SIGTERM");
  const { code, stdout } = await second.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('"message":"stopping","by":"SIGTERM"');
}, 30_000);

test.concurrent("asked to stop, it answers what it has begun", async () => {
  const service = start(await alone());
  const url = await service.url;
  await synced(url);
  const stage = await openStage(url, LOCAL_USDC_MINT, silentNarrator);
  const register = registerMerchantInstruction(stage.deployment, {
    payer: stage.merchant.address,
    merchant: stage.merchant.address,
    attestor: stage.attestor.address,
    name: "Late Quotes",
  });
  const transaction = await stage.merchant.transaction(
    [register],
    await stage.faucet.latestBlockhash(),
  );
  // A confirmation takes to the end of the slot, so that this is still under way when it is asked to stop.
  const relayed = fetch(`${url}/v1/relay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ signed_transaction: transaction, confirm: true }),
  });
  // Answered on a later connection, so the relay has its request.
  await fetch(`${url}/health`);
  service.kill("SIGTERM");
  expect((await relayed).status).toBe(202);
  expect((await service.ended).code).toBe(0);
}, 30_000);

test.concurrent.if(process.platform === "linux")(
  "npx ended by force does not leave the service behind",
  async () => {
    // As npx does it: a process of that name, a shell below it that passes no signal on, then the service.
    const below = `sh -c '"${process.execPath}" "${MAIN}"; true' & wait`;
    const npx = Bun.spawn(["bash", "-c", 'exec -a "npm exec bun" bash -c "$0"', below], {
      env: { PATH: process.env["PATH"] ?? "", ...(await alone()) },
      stdout: "pipe",
    });
    const lines = npx.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let said = "";
    for (let part = await lines.read(); !part.done; part = await lines.read()) {
      said += part.value;
      if (said.includes('"listening"')) npx.kill("SIGKILL");
    }
    expect(said).toContain('"message":"stopping","by":"the end of npx"');
  },
  30_000,
);

test.concurrent("a second service on the same DATA_DIR or the same port ends with a sentence about it", async () => {
  const env = await alone();
  const first = start(env);
  const { port } = new URL(await first.url);
  const [sameDirectory, samePort] = await Promise.all([
    start(env).ended,
    start({ ...(await alone()), PORT: port }).ended,
  ]);
  expect(sameDirectory.code).toBe(1);
  expect(sameDirectory.stderr).toContain("another service is using it");
  expect(samePort.code).toBe(1);
  expect(samePort.stderr).toContain(`Port ${port} on 127.0.0.1 is taken`);
  expect((await fetch(`${await first.url}/health`)).status).toBe(200);
  first.kill("SIGINT");
  expect((await first.ended).code).toBe(0);
}, 30_000);

test.concurrent("what it cannot run with, it says on standard error, and ends with 1", async () => {
  const [configuration, unwritable] = await Promise.all([
    start({ PORT: "http", DATABASE_URL: "postgres://u:hunter2@db/x?schema=A-B" }).ended,
    start({ DATA_DIR: "/dev/null/data" }).ended,
  ]);
  expect(configuration).toMatchObject({ code: 1, stdout: "" });
  expect(configuration.stderr.trim().split("\n")).toEqual([
    "The configuration is not usable:",
    '  PORT is "http"; expected a whole number from 0 to 65535',
    "  DATABASE_URL is set, but malformed; expected a postgres:// address; ?schema= in small letters, digits and underscores",
  ]);
  expect(unwritable.code).toBe(1);
  expect(unwritable.stderr).toStartWith("DATA_DIR /dev/null/data: it cannot be written");
}, 30_000);
