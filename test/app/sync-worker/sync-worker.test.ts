import { afterAll, expect, test } from "bun:test";
import { Cause, Context, Deferred, Effect, Exit, Layer, Redacted, Scope } from "effect";
import { existsSync } from "node:fs";
import { readSettings } from "../../../app/config/settings.ts";
import type { IndexRefused } from "../../../app/stores/index-refused.ts";
import { serviceLayer } from "../../../app/layers.ts";
import { spawnSyncThread } from "../../../app/sync-worker/sync-thread.ts";
import type { HttpServices } from "../../../adapters/http/server/http-services.ts";
import { IndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../ports/index/index-writer.ts";
import { environmentOn } from "../../chaos/support/service-environment.ts";
import { ChainNode } from "../../world/chain-node.ts";
import { refusing } from "../../world/node-faults.ts";
import { serveNode } from "../../simulation/serve-node.ts";
import { refundedOf, worldEscrow } from "../../simulation/world-escrow.ts";
import { worldOf } from "../../simulation/world.ts";
import { temporaryDirectory } from "../support/running-service.ts";

const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
afterAll(() => Promise.all(directories.map(({ remove }) => remove())));

/** The services of an instance on a node, whose syncs run in a worker of this process. */
const servicesOn = async (rpcUrl: string, change: Readonly<Record<string, string>> = {}) => {
  const directory = await temporaryDirectory();
  directories.push(directory);
  const own = { ...environmentOn(rpcUrl, directory.path), SYNC_INTERVAL_SECONDS: "0" };
  const settings = await Effect.runPromise(readSettings(own));
  const refused = await Effect.runPromise(Deferred.make<never, IndexRefused>());
  const scope = await Effect.runPromise(Scope.make());
  const url = Redacted.make(new URL(rpcUrl));
  const started = {
    settings,
    dataDir: directory.path,
    rpcUrls: [url] as const,
    webSocketUrl: url,
    startedAtMs: 0,
  };
  const thread = await Effect.runPromise(
    Scope.provide(spawnSyncThread({ ...own, ...change }), scope),
  );
  const layer = serviceLayer(started, refused, thread);
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope));
  return {
    context,
    dataDir: directory.path,
    refusal: () => Effect.runPromise(Effect.flip(Deferred.await(refused))),
    run: <A, E>(effect: Effect.Effect<A, E, HttpServices>) =>
      Effect.runPromiseExit(Effect.provide(effect, context)),
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};

const request = IndexSync.use((sync) => sync.request);
const activity = IndexSync.use((sync) => sync.activity);
/** A request that waits until the worker's stores are open. */
const synced = Effect.eventually(request);
const count = Effect.map(
  Effect.eventually(IndexReader.use((index) => index.summary)),
  ({ mark }) => mark?.count,
);

test("the thread that answers has no writer; requests, reports, failures and activity cross", async () => {
  const node = worldOf(40);
  let isDown = false;
  using served = serveNode(
    refusing(
      new ChainNode(node).answer,
      ({ method }) => isDown && method === "getMultipleAccounts",
    ),
  );
  const service = await servicesOn(served.url);
  expect(Context.getOption(service.context as Context.Context<never>, IndexWriter)._tag).toBe(
    "None",
  );
  expect(Context.getOption(service.context, IndexReader)._tag).toBe("Some");

  const first = await service.run(synced);
  if (!Exit.isSuccess(first)) throw new Error(Cause.pretty(first.cause));
  const { mode, count: events } = first.value;
  expect([mode, typeof events, first.value.escrows.created]).toEqual(["snapshot", "bigint", 40]);
  expect(await service.run(count)).toEqual(Exit.succeed(events));
  expect(existsSync(`${service.dataDir}/index.sqlite`)).toBe(true);

  node.slot += 5n;
  node.putEscrow(refundedOf(worldEscrow(0)));
  node.slot += 5n;
  const [a, b] = await Promise.all([service.run(request), service.run(request)]);
  expect([Exit.isSuccess(a), Exit.isSuccess(b)]).toEqual([true, true]);
  expect(await service.run(count)).toEqual(Exit.succeed(events + 1n));

  isDown = true;
  const failed = await service.run(Effect.flip(request));
  expect(Exit.isSuccess(failed) && failed.value).toMatchObject({
    _tag: "LedgerUnavailable",
    retryable: true,
    cause: "told by the worker",
  });
  expect(await service.run(activity)).toMatchObject(
    Exit.succeed({ running: false, lastError: "LedgerUnavailable", progress: null }),
  );
  await service.stop();
  // The worker's connection was the last one, and has copied the write-ahead log into the file.
  expect(existsSync(`${service.dataDir}/index.sqlite-wal`)).toBe(false);
  expect(await service.run(Effect.flip(request))).toMatchObject(
    Exit.succeed({ _tag: "StoreUnavailable" }),
  );
}, 60_000);

test("a worker that cannot start is told to the service", async () => {
  using served = serveNode(() => new Promise(() => {}));
  const service = await servicesOn(served.url, { PORT: "none" });
  expect(await service.refusal()).toMatchObject({ _tag: "SyncWorkerEnded" });
  await service.stop();
}, 60_000);
