import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Context, Effect } from "effect";
import { IndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { LogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import { SettlementLog } from "../../../../core/use-cases/log/serving/published-log.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { startListening } from "../support/listening-service.ts";
import { escrow } from "../support/parties.ts";
import { type Nginx, startNginx } from "./nginx.ts";

/** A full tile has 256 hashes; the log has leaf 0 and these. */
const EVENTS = 300;
const FULL_TILES = ["tile/0/000", "tile/entries/000"];

/** Publishes the log at the index's size. */
const publish = Effect.gen(function* () {
  yield* (yield* IndexSync).request;
  const { mark } = yield* (yield* IndexReader).summary;
  if (mark === null) throw new Error("the index has no mark");
  yield* (yield* LogPublisher).grown(mark);
  const { published } = yield* SettlementLog;
  while (((yield* published)?.checkpoint ?? null) === null) yield* Effect.yieldNow;
});

let dataDir: string;
let service: Awaited<ReturnType<typeof startListening>>;
let nginx: Nginx;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "log-tiles-"));
  service = await startListening({ logSigner: new Uint8Array(32).fill(21) });
  const { context, runtime, seed, url } = service;
  seed({ escrows: Array.from({ length: EVENTS }, (_, at) => escrow(`tile ${at}`)) });
  runtime.runFork(Context.get(context, LogPublisher).run);
  await runtime.runPromise(publish);
  // What a store in files keeps (docs/log.md, "What is served").
  for (const path of FULL_TILES) {
    const bytes = await runtime.runPromise(Context.get(context, LogStore).tile(`0/${path}`));
    await Bun.write(join(dataDir, "log/0", path), bytes ?? "");
  }
  const host = url.replace("http://", "");
  nginx = await startNginx(`
    server {
      LISTEN;
      location ~ ^/log/(tile/[0-9a-z/]+)$ {
        root ${dataDir}/log/0;
        default_type application/octet-stream;
        add_header cache-control "public, max-age=31536000, immutable";
        add_header x-from file;
        try_files /$1 @service;
      }
      location / { proxy_pass http://${host}; }
      location @service { proxy_pass http://${host}; }
    }
  `);
});
afterAll(async () => {
  await nginx.stop();
  await service.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test.each([
  { path: "/log/tile/0/000", isFile: true },
  { path: "/log/tile/entries/000", isFile: true },
  { path: "/log/tile/0/000.p/200", isFile: false },
  { path: "/log/tile/entries/001.p/45", isFile: false },
  { path: "/log/tile/1/000.p/1", isFile: false },
  { path: "/log/checkpoint", isFile: false },
  { path: "/log/tile/0/001", isFile: false },
])("$path has the service's own bytes behind nginx", async ({ path, isFile }) => {
  const own = await fetch(service.url + path);
  const behind = await fetch(`http://localhost${path}`, { unix: nginx.socket });
  expect(behind.status).toBe(own.status);
  expect(behind.headers.get("x-from")).toBe(isFile ? "file" : null);
  expect(behind.headers.get("cache-control")).toBe(own.headers.get("cache-control"));
  expect(behind.headers.get("content-type")).toBe(own.headers.get("content-type"));
  const [ours, theirs] = await Promise.all([own.arrayBuffer(), behind.arrayBuffer()]);
  if (own.status === 200) expect(Buffer.from(theirs).equals(Buffer.from(ours))).toBe(true);
});
