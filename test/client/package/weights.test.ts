import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ENTRIES } from "../../../app/client-package/build-package.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const MOST_VERIFY = 48_000;
/** What a stated weight may be above the measured one before the docs are stale, in kilobytes. */
const MOST_OVER = 3;

/** Bytes of an entry's bundle, minified and gzipped, with everything that it imports. */
const weigh = async (module: string): Promise<number> => {
  const built = await Bun.build({
    entrypoints: [join(ROOT, `client/${module}.ts`)],
    target: module.startsWith("node/") ? "node" : "browser",
    minify: true,
  });
  const [bundle] = built.outputs;
  if (bundle === undefined) throw new Error(built.logs.map(({ message }) => message).join("\n"));
  return Bun.gzipSync(new Uint8Array(await bundle.arrayBuffer()), { level: 9 }).length;
};

test("the verifier, log proofs included, and evidence of calls included, has less than 48 KB", async () => {
  expect(await weigh(ENTRIES["./verify"])).toBeLessThan(MOST_VERIFY);
});

test("the verifier imports the noble family alone", async () => {
  const built = await Bun.build({
    entrypoints: [join(ROOT, `client/${ENTRIES["./verify"]}.ts`)],
    target: "browser",
    packages: "external",
  });
  const text = (await built.outputs[0]?.text()) ?? "";
  const imports = new Bun.Transpiler({ loader: "js" }).scan(text).imports.map(({ path }) => path);
  const packages = imports.map((path) => path.split("/").slice(0, 2).join("/"));
  expect([...new Set(packages)].toSorted()).toEqual([
    "@noble/curves",
    "@noble/hashes",
    "@scure/base",
  ]);
});

describe("docs/client.md says each entry's weight", () => {
  const docs = readFileSync(join(ROOT, "docs/client.md"), "utf8");
  for (const [entry, module] of Object.entries(ENTRIES)) {
    const name = `settlement-evidence${entry.slice(1)}`;
    test(name, async () => {
      const row = docs.split("\n").find((line) => line.startsWith(`| \`${name}\` `)) ?? "";
      const stated = Number(/ ([0-9]+) KB +\|$/.exec(row)?.[1]);
      const bytes = await weigh(module);
      console.log(`${name}: ${bytes} bytes, minified and gzipped`);
      const measured = Math.ceil(bytes / 1000);
      expect(stated).toBeGreaterThanOrEqual(measured);
      expect(stated).toBeLessThanOrEqual(measured + MOST_OVER);
    });
  }
});
