import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** Runs the command in the tree itself: nothing here may be written. */
const refused = async (...args: ReadonlyArray<string>) => {
  const child = Bun.spawn([process.execPath, "tools/new.ts", ...args], {
    cwd: ROOT,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect({ code, stdout }).toEqual({ code: 64, stdout: "" });
  return stderr.trimEnd();
};

test.each([
  ["endpoint", "list-mints", "such as service/list-mints"],
  ["endpoint", "mints/list-mints", "SUBJECT being one of escrow, merchant"],
  ["endpoint", "service/ListMints", "such as service/list-mints"],
  ["endpoint", "../service/list-mints", "such as service/list-mints"],
  ["store", "Duck DB", "such as duckdb"],
  ["store", "../duckdb", "such as duckdb"],
  ["template", "parcel-delivered", "such as parcel-delivered-v1"],
  ["template", "parcel-delivered-v0", "such as parcel-delivered-v1"],
])("new %s %s is refused in a line with the cure", async (kind, name, cure) => {
  const line = await refused(kind, name);
  expect(line.split("\n")).toHaveLength(1);
  expect(line).toStartWith(`${name} is no `);
  expect(line).toContain(cure);
});

test.each([
  ["endpoint", "merchant/read-merchant", "adapters/http/merchant/merchant-contract.ts"],
  ["store", "memory", "adapters/memory/index-store.ts"],
  ["template", "api-delivered-v1", "core/domain/evidence/proof-templates/api-delivered-v1.json"],
])("new %s %s is refused because it is there", async (kind, name, file) => {
  expect(await refused(kind, name)).toBe(`${file} is there already; choose another name`);
});

test("a kind that is none, and a name too few or too many, get the usage", async () => {
  for (const args of [[], ["port", "x"], ["store"], ["store", "a", "b"]])
    expect(await refused(...args)).toContain("usage: bun run new KIND NAME");
});
