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
