import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { runScript } from "../support/run-script.ts";

const PRINT = fileURLToPath(new URL("../support/print-loaded-modules.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The paths below the repository of the modules that come with this one. Rejects when its load makes a key. */
const loadedWith = async (module: string): Promise<ReadonlyArray<string>> => {
  const { code, stdout, stderr } = await runScript(PRINT, [`${ROOT}${module}`]);
  if (code !== 0) throw new Error(stderr);
  const paths = JSON.parse(stdout) as ReadonlyArray<string>;
  return paths.map((path) => path.replace(ROOT, ""));
};

const within = (modules: ReadonlyArray<string>, folder: string): ReadonlyArray<string> =>
  modules.filter((path) => path.startsWith(folder));

test("the HTTP surface loads without the document's plugin, and computes no example's key", async () => {
  const modules = await loadedWith("adapters/http/server/http-app.ts");
  expect(modules).toContain("adapters/http/openapi/openapi-document.ts");
  expect(within(modules, "node_modules/@elysiajs/")).toEqual([]);
  expect(within(modules, "node_modules/@scalar/")).toEqual([]);
});

test("what begins ledger and worker loads nothing that serves", async () => {
  const modules = await loadedWith("app/serve.ts");
  expect(modules).toContain("app/sync-worker/sync-thread.ts");
  expect(within(modules, "adapters/http/")).toEqual([]);
  expect(within(modules, "node_modules/elysia/")).toEqual([]);
  expect(within(modules, "core/use-cases/")).toEqual([]);
});

test("a service loads neither PostgreSQL nor the syncs before it is known who keeps the stores", async () => {
  const modules = await loadedWith("app/serve-instance.ts");
  expect(modules).toContain("app/stores/storage.ts");
  expect(within(modules, "adapters/postgres/")).toEqual([]);
  expect(within(modules, "app/syncing/")).toEqual([]);
});

test("the ledger's process runs without @solana/kit", async () => {
  const modules = await loadedWith("adapters/local-ledger/run-local-ledger.ts");
  expect(modules).toContain("adapters/local-ledger/genesis/genesis.ts");
  expect(within(modules, "node_modules/@solana/")).toEqual([]);
});
