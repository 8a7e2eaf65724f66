import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ALL_TOOLS } from "../../client/mcp/tools/all-tools.ts";

const ROOT = join(import.meta.dir, "../..");
const PAGE = readFileSync(join(ROOT, "docs/agents.md"), "utf8");
const matches = (pattern: RegExp): ReadonlyArray<string> =>
  Array.from(PAGE.matchAll(pattern), ([, found]) => found ?? "");

test("every file that docs/agents.md links or runs exists", () => {
  const linked = matches(/\]\(([^)#:]+)(?:#[^)]*)?\)/g).map((path) => join(ROOT, "docs", path));
  const run = matches(/npx bun@1\.4\.5 (\S+\.ts)/g).map((name) => join(ROOT, "examples", name));
  expect(linked.length).toBeGreaterThan(5);
  expect(run.length).toBeGreaterThan(5);
  expect([...linked, ...run].filter((path) => !existsSync(path))).toEqual([]);
});

test("every tool that docs/agents.md calls exists", () => {
  const called = matches(/mcp-call\.ts (\w+) /g);
  expect(called.length).toBeGreaterThan(2);
  const names = new Set<string>(ALL_TOOLS.map(({ name }) => name));
  expect(called.filter((name) => !names.has(name))).toEqual([]);
});

test("every package that docs/agents.md installs has the version that is tested here", () => {
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  ) as Record<"dependencies" | "devDependencies", Record<string, string>>;
  const installed = matches(/ ((?:@[\w-]+\/)?[\w-]+@\d+\.\d+\.\d+)(?=\s)/g).filter(
    (name) => !name.startsWith("bun@"),
  );
  expect(installed.length).toBeGreaterThan(3);
  const tested = new Set(
    Object.entries({ ...dependencies, ...devDependencies }).map(
      ([name, version]) => `${name}@${version}`,
    ),
  );
  expect(installed.filter((name) => !tested.has(name))).toEqual([]);
});
