import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { INDEX_KIND } from "../../../adapters/sqlite/index/index-schema.ts";
import { environmentOn } from "../../chaos/support/service-environment.ts";
import { ChainNode } from "../../world/chain-node.ts";
import { serveNode } from "../../simulation/serve-node.ts";
import { worldOf } from "../../simulation/world.ts";
import { temporaryDirectory, until, synced } from "../support/running-service.ts";
import { startServiceProcess } from "../support/service-process.ts";
import { startedServices } from "../support/started-services.ts";
import { holdingScan } from "../../world/node-faults.ts";

const ESCROWS = 300;
const { start } = startedServices();
const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
afterAll(() => Promise.all(directories.map(({ remove }) => remove())));

const environmentOf = async (rpcUrl: string) => {
  const directory = await temporaryDirectory();
  directories.push(directory);
  return { ...environmentOn(rpcUrl, directory.path), LOG_LEVEL: "info" };
};

const escrowsOf = async (url: string): Promise<number> => {
  const answer = await fetch(`${url}/v1/indexer?limit=500`);
  return ((await answer.json()) as { readonly data: ReadonlyArray<unknown> }).data.length;
};

type Status = {
  readonly indexer: { readonly running: boolean; readonly progress: object | null };
};
const statusOf = async (url: string): Promise<Status> =>
  ((await (await fetch(`${url}/v1/status`)).json()) as { readonly data: Status }).data;

test("answers keep coming while a build waits for the node, and a service killed in it leaves a store that the next builds", async () => {
  const world = worldOf(ESCROWS);
  // Scans of escrows and merchants are answered before; the last one is of tombstones.
  const held = holdingScan(new ChainNode(world).answer, 3);
  using node = serveNode(held.answers);
  const env = await environmentOf(node.url);
  const killed = start(env);
  const url = await killed.url;
  await held.paused;
  expect(existsSync(join(env.DATA_DIR, "index.sqlite-build"))).toBe(true);
  expect((await fetch(`${url}/health`)).status).toBe(200);
  const early = await fetch(`${url}/v1/indexer`);
  expect(early.status).toBe(503);
  expect(await early.json()).toMatchObject({ code: "not_ready" });
  const { indexer } = await until(
    "the status shows the sync",
    () => statusOf(url),
    ({ indexer }) => indexer.progress !== null,
  );
  expect(indexer).toMatchObject({ running: true, count: null, progress: { phase: "accounts" } });
  killed.kill("SIGKILL");
  await killed.ended;
  held.release();

  const next = start(env);
  await synced(await next.url);
  expect(await escrowsOf(await next.url)).toBe(ESCROWS);
  expect(existsSync(join(env.DATA_DIR, "index.sqlite-build"))).toBe(false);
  next.kill("SIGTERM");
  expect((await next.ended).code).toBe(0);
}, 60_000);

test("a service asked to stop while its worker waits for the node stops in order", async () => {
  const held = holdingScan(new ChainNode(worldOf(10)).answer, 1);
  using node = serveNode(held.answers);
  const service = start(await environmentOf(node.url));
  await service.url;
  await held.paused;
  service.kill("SIGTERM");
  expect((await service.ended).code).toBe(0);
}, 60_000);

test("a store that a newer version wrote ends the service, with the worker's explanation", async () => {
  const world = worldOf(1);
  using node = serveNode(new ChainNode(world).answer);
  const env = await environmentOf(node.url);
  using db = new Database(join(env.DATA_DIR, "index.sqlite"), { create: true });
  db.run(`PRAGMA application_id = ${INDEX_KIND.applicationId}`);
  db.run("PRAGMA user_version = 999");
  const { code, stderr } = await start(env).ended;
  expect(code).toBe(1);
  expect(stderr.trim().split("\n")).toHaveLength(1);
  expect(stderr).toContain("index.sqlite has schema version 999");
}, 60_000);

test("a worker that ends unexpectedly ends the service with an explanation", async () => {
  const world = worldOf(1);
  using node = serveNode(new ChainNode(world).answer);
  const script = join(import.meta.dir, "service-whose-worker-ends.ts");
  const service = startServiceProcess(await environmentOf(node.url), script);
  await fetch(`${await service.url}/v1/indexer/sync`, { method: "POST" }).catch(() => null);
  const { code, stderr } = await service.ended;
  expect(code).toBe(1);
  expect(stderr).toStartWith("The worker that syncs the index ended unexpectedly: ");
}, 60_000);
