import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { buildPackage } from "../../../app/client-package/build-package.ts";
import { type Installed, installedOffline } from "./installed.ts";
import {
  BAD_INPUT,
  BAD_PAYMENTS,
  command,
  layOut,
  tryEntries,
  tryOfflineCommands,
} from "./tries.ts";

const MOST_BYTES = 1_000_000;
const node = Bun.which("node");
/** `bun run test:package` runs the same in Node 20, 22 and 24 and in Deno. */
const RUNTIMES = [
  { name: "bun", runtime: [process.execPath] },
  ...(node === null ? [] : [{ name: "node", runtime: [node] }]),
];
/** Bun starts in a tenth of the time of Node. */
const runtime = [process.execPath];

let installed: Installed;

beforeAll(async () => {
  installed = await installedOffline();
  await layOut(installed, runtime);
}, 120_000);

afterAll(() => rm(installed.folder, { recursive: true, force: true }));

test("the tarball and what it unpacks to have less than 1 MB each", async () => {
  expect(installed.built.bytes).toBeLessThan(MOST_BYTES);
  const place = join(installed.folder, "node_modules/settlement-evidence");
  const paths = (await readdir(place, { recursive: true, withFileTypes: true })).filter((each) =>
    each.isFile(),
  );
  const sizes = await Promise.all(
    paths.map(({ parentPath, name }) => readFile(join(parentPath, name))),
  );
  expect(sizes.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(MOST_BYTES);
});

test("a second build gives the same bytes", async () => {
  const again = await buildPackage(join(installed.folder, "again"));
  expect(again.sha256).toBe(installed.built.sha256);
}, 60_000);

test("the package runs nothing when it is installed", async () => {
  const path = join(installed.folder, "node_modules/settlement-evidence/package.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as object;
  expect(Object.keys(manifest)).not.toContain("scripts");
});

for (const { name, runtime } of RUNTIMES) {
  test(
    `${name}: every entry works from the tarball`,
    () => tryEntries(installed, runtime, name),
    60_000,
  );
  test(
    `${name}: verify and keygen work from the tarball`,
    () => tryOfflineCommands(installed, runtime, name),
    60_000,
  );
}

for (const [args, code, line] of [...BAD_INPUT, ...BAD_PAYMENTS])
  test(`bad input, one line: ${args.join(" ").slice(0, 120)} says ${line}`, async () => {
    const ran = await command(installed, runtime, ...args);
    expect([ran.code, ran.out]).toEqual([code, ""]);
    expect(ran.err.startsWith(line)).toBe(true);
    expect(ran.err.trimEnd().split("\n")).toHaveLength(1);
  }, 60_000);
