import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buildPackage, ENTRIES } from "../../../app/client-package/build-package.ts";
import { type Installed, installedOffline, type Ran, run } from "./installed.ts";
import {
  BAD_INPUT,
  BAD_PAYMENTS,
  command,
  layOut,
  tryEntries,
  tryOfflineCommands,
} from "./tries.ts";

const MOST_BYTES = 300_000;
const MOST_UNPACKED_BYTES = 1_200_000;
const node = Bun.which("node");
/** `bun run test:more package` runs the same in Node 20, 22 and 24 and in Deno. */
const RUNTIMES = [
  { name: "bun", runtime: [process.execPath] },
  ...(node === null ? [] : [{ name: "node", runtime: [node] }]),
];
/** Bun starts in a tenth of the time of Node. */
const runtime = [process.execPath];

const BAD = [...BAD_INPUT, ...BAD_PAYMENTS];
/** A program that runs the package's command with many arguments, one after the other, and prints how each ended. */
const ONE_BY_ONE = `
import { main } from "./node_modules/settlement-evidence/client/command-line/main.js";
const all = [];
for (const args of JSON.parse(process.argv[2])) {
  const ran = { code: -1, out: "", err: "" };
  const stdout = { write: (text) => void (ran.out += text) };
  const stderr = { write: (text) => void (ran.err += text) };
  const stdin = new Blob([]).stream();
  ran.code = await main(args, { env: {}, stdin, stdout, stderr, once: () => undefined });
  all.push(ran);
}
console.log(JSON.stringify(all));
`;

let installed: Installed;
let refused: ReadonlyArray<Ran>;

beforeAll(async () => {
  installed = await installedOffline();
  await layOut(installed, runtime);
  const { folder } = installed;
  await writeFile(join(folder, "one-by-one.js"), ONE_BY_ONE);
  const given = JSON.stringify(BAD.map(([args]) => args));
  const ran = await run(folder, ...runtime, "one-by-one.js", given);
  expect([ran.code, ran.err]).toEqual([0, ""]);
  refused = JSON.parse(ran.out) as ReadonlyArray<Ran>;
}, 120_000);

afterAll(() => rm(installed.folder, { recursive: true, force: true }));

test("the tarball, and what it unpacks to, stay below what docs/client.md says", async () => {
  const place = join(installed.folder, "node_modules/settlement-evidence");
  const paths = (await readdir(place, { recursive: true, withFileTypes: true })).filter((each) =>
    each.isFile(),
  );
  const sizes = await Promise.all(
    paths.map(({ parentPath, name }) => readFile(join(parentPath, name))),
  );
  const unpacked = sizes.reduce((sum, { length }) => sum + length, 0);
  console.log(
    `the tarball: ${installed.built.bytes} bytes, unpacked ${unpacked} in ${paths.length}`,
  );
  expect(installed.built.bytes).toBeLessThan(MOST_BYTES);
  expect(unpacked).toBeLessThan(MOST_UNPACKED_BYTES);
});

test("a strict program's types come from every entry, and no declaration names what is not there", async () => {
  const { folder } = installed;
  const names = Object.keys(ENTRIES).map((entry) => `settlement-evidence${entry.slice(1)}`);
  const lines = names.map((name, at) => `import * as entry${at} from "${name}";`);
  const used = `
import { connect, type SettlementError } from "settlement-evidence";
import { type Awaited, connectMerchant } from "settlement-evidence/merchant";
const merchant = connectMerchant("http://127.0.0.1", { trust: "" });
export const state: "Pending" | "Fulfilled" | "PartiallyFulfilled" | "Refunded" = (null as unknown as Awaited).state;
export const rows: Promise<{ readonly totals: { readonly deliveries: number } }> = merchant.export({ merchant: "" });
export const outcome: Promise<{ readonly terms: "same" | "unproven" }> = connect("http://127.0.0.1", { trust: "" }).pay(null as never);
// @ts-expect-error a code is a text
export const code: number = (null as unknown as SettlementError).code;
export const all = [${names.map((_, at) => `entry${at}`).join(", ")}];
`;
  await writeFile(join(folder, "strict.ts"), `${lines.join("\n")}${used}`);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    module: "nodenext",
    target: "es2023",
    lib: ["es2023", "dom", "dom.asynciterable", "esnext.disposable"],
    types: [],
  };
  await writeFile(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions, files: ["strict.ts"] }),
  );
  const tsc = join(import.meta.dir, "../../../node_modules/typescript/bin/tsc");
  const ran = await run(folder, process.execPath, tsc, "--project", "tsconfig.json");
  const own = ran.out.split("\n").filter((line) => !/^\S*node_modules\/@/.test(line));
  expect([own.join("\n").trim(), ran.err]).toEqual(["", ""]);
}, 120_000);

test("a second build gives the same bytes, also where files are made for one user alone", async () => {
  const usual = process.umask(0o077);
  const again = await buildPackage(join(installed.folder, "again")).finally(() =>
    process.umask(usual),
  );
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

test("bad input is one line, also from a process of its own", async () => {
  const [[args, code, line]] = BAD_INPUT as readonly [(typeof BAD_INPUT)[number]];
  const ran = await command(installed, runtime, ...args);
  expect(ran).toEqual({ code, out: "", err: expect.stringMatching(/^[^\n]+\n$/) });
  expect(ran.err).toStartWith(line);
});

for (const [at, [args, code, line]] of BAD.entries())
  test(`bad input, one line: ${args.join(" ").slice(0, 120)} says ${line}`, () => {
    const ran = refused[at];
    expect(ran).toEqual({ code, out: "", err: expect.stringMatching(/^[^\n]+\n$/) });
    expect(ran?.err.startsWith(line)).toBe(true);
  });
