import { afterAll, beforeAll, expect, test } from "bun:test";
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "../temporary-root.ts";

// `bun run test:more walks`: what `bun run new` writes, tried in a copy of the tree.
const ROOT = join(import.meta.dir, "../..");
const COPIED =
  "adapters app client core docs ports programs test tools bunfig.toml package.json tsconfig.json .oxfmtrc.json .oxlintrc.json".split(
    " ",
  );

let copy = "";
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "walks-"));
  await Promise.all(
    COPIED.map((name) => cp(join(ROOT, name), join(copy, name), { recursive: true })),
  );
  await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

const run = async (...command: ReadonlyArray<string>) => {
  const child = Bun.spawn([...command], { cwd: copy, stdout: "pipe", stderr: "pipe" });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code, said: stdout + stderr };
};
const bun = (...args: ReadonlyArray<string>) => run(process.execPath, ...args);
/** A test of the copy, with the time limit of `bun run test`. */
const tested = (file: string) => bun("test", "--timeout", "60000", file);
const tool = (name: string, ...args: ReadonlyArray<string>) =>
  run(join(ROOT, "node_modules/.bin", name), ...args);

const edit = async (file: string, change: (text: string) => string): Promise<void> => {
  const path = join(copy, file);
  const text = await Bun.file(path).text();
  expect(change(text)).not.toBe(text);
  await Bun.write(path, change(text));
};

test("the made files keep the project's format and lint rules", async () => {
  const made = await Promise.all([
    bun("tools/new.ts", "endpoint", "service/list-mints"),
    bun("tools/new.ts", "store", "duckdb"),
    bun("tools/new.ts", "template", "parcel-delivered-v1"),
  ]);
  expect(made.map(({ code, said }) => `${code} ${said}`)).toEqual([
    expect.stringContaining("0 made  adapters/http/service/mints-contract.ts"),
    expect.stringContaining("0 made  adapters/duckdb/index-store.ts"),
    expect.stringContaining(
      "0 made  core/domain/evidence/proof-templates/parcel-delivered-v1.json",
    ),
  ]);
  const files = made.flatMap(({ said }) =>
    Array.from(said.matchAll(/^made {2}(\S+)$/gm), ([, file = ""]) => file),
  );
  expect(files).toHaveLength(6);
  expect(await tool("oxfmt", "--check", ...files)).toMatchObject({ code: 0 });
  const sources = files.filter((file) => file.endsWith(".ts"));
  expect(await tool("oxlint", "--deny-warnings", ...sources)).toMatchObject({ code: 0 });
});

test("an endpoint's test first fails until it is served, then until its texts are written, and then passes", async () => {
  const file = "test/adapters/http/service/list-mints.test.ts";
  const unserved = await tested(file);
  expect(unserved.code).toBe(1);
  expect(unserved.said).toContain(
    "listMints is not served: name listMintsEndpoint in adapters/http/server/endpoints.ts",
  );
  await edit("adapters/http/server/endpoints.ts", (text) =>
    text
      .replace("  metricsEndpoint,", "  metricsEndpoint,\n  listMintsEndpoint,")
      .replace(/^/, 'import { listMintsEndpoint } from "../service/list-mints.ts";\n'),
  );
  const unwritten = await tested(file);
  expect(unwritten.code).toBe(1);
  expect(unwritten.said).toContain("a text of listMints is still to be written");
  for (const name of ["list-mints", "mints-contract"])
    await edit(`adapters/http/service/${name}.ts`, (text) => text.replaceAll("TO WRITE: ", ""));
  expect(await tested(file)).toMatchObject({ code: 0 });
});

test("a store's contract suite names the method that is to be written", async () => {
  const { code, said } = await tested("test/adapters/duckdb/index-store.test.ts");
  expect(code).toBe(1);
  expect(said).toContain("escrows is still to be written");
  expect(said).toContain("indexDuckdb is an index");
});

test("a template's test asks for a line in the catalogue, and passes with it", async () => {
  const file = "test/core/domain/evidence/proof-template.test.ts";
  const missing = await tested(file);
  expect(missing.code).toBe(1);
  expect(missing.said).toContain("(fail) every file beside the catalogue is in it");
  expect(missing.said).toContain("parcel-delivered-v1.json");
  await edit("core/domain/evidence/proof-template.ts", (text) =>
    text
      .replace("  goodsDelivered,\n]", "  goodsDelivered,\n  parcelDelivered,\n]")
      .replace(
        /^(import \w+ from "\.\/proof-templates\/)travel-booking-confirmed-v1/m,
        'import parcelDelivered from "./proof-templates/parcel-delivered-v1.json" with { type: "json" };\n$1travel-booking-confirmed-v1',
      ),
  );
  const { code, said } = await tested(file);
  expect(said).toContain(" 0 fail");
  expect(code).toBe(0);
});

/** What does not compile: an edit, and the files in which the compiler finds its fault. */
const UNCOMPILED = [
  {
    what: "a custody instruction without its record",
    file: "core/protocol/generated/custody.ts",
    from: "  archive_escrow: {",
    to: '  hold_escrow: { discriminator: [1, 2, 3, 4, 5, 6, 7, 8], length: 8, args: {}, accounts: { escrow: { place: 0, role: "writable" } } },\n  archive_escrow: {',
    faulty: ["core/protocol/rules/instruction-records.ts"],
  },
  {
    what: "a field of an answer without its value",
    file: "adapters/http/merchant/merchant-contract.ts",
    from: "const members = {",
    to: 'const members = {\n  warnings: Count("How often the admin warned it."),',
    faulty: ["adapters/http/merchant/merchant-contract.ts"],
  },
  {
    what: "an operation that has gone, of which the client and its tools ask",
    file: "client/generated/contract.ts",
    from: '"GET /v1/relay/{signature}"',
    to: '"GET /v1/outcomes/{signature}"',
    faulty: ["client/mcp/tools/relay-outcome.ts", "client/pay/relay.ts"],
  },
  {
    what: "a storage without one of its parts",
    file: "app/stores/storage-in-database.ts",
    from: ", packets, news,",
    to: ", packets,",
    faulty: ["app/stores/storage-in-database.ts"],
  },
];

test(`the made files compile, and of the rest what must not does not: ${UNCOMPILED.map(({ what }) => what).join("; ")}`, async () => {
  for (const { file, from, to } of UNCOMPILED)
    await edit(file, (text) => text.replace(from, () => to));
  const { code, said } = await tool("tsc", "--project", "tsconfig.json");
  const files = Array.from(said.matchAll(/^([\w./-]+)\(\d+,\d+\)/gm), ([, path = ""]) => path);
  expect([...new Set(files)].toSorted()).toEqual(
    UNCOMPILED.flatMap(({ faulty }) => faulty).toSorted(),
  );
  expect(code).not.toBe(0);
});
