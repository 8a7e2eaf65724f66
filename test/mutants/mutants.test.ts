import { expect, test } from "bun:test";
import { coveringTests, importersOf } from "./covering-tests.ts";
import { mutantsOf, mutated } from "./mutants-of.ts";
import { runTests } from "./run-tests.ts";
import { filesOf, treeCopy } from "./tree-copy.ts";

const ROOT = `${import.meta.dir}/../..`;

const changed = (text: string): ReadonlyArray<string> =>
  mutantsOf("a.ts", text).map((mutant) => mutated(text, mutant));

test("each operator changes one place", () => {
  expect(changed("f(a < b);")).toEqual([";", "f(a <= b);"]);
  expect(changed("const x = a === b ? c : d;")).toEqual([
    "const x = !(a === b) ? c : d;",
    "const x = a !== b ? c : d;",
  ]);
  expect(changed("const x = (a ?? b) && c;")).toEqual([
    "const x = (((a ?? b)) || (c));",
    "const x = ((a as never)) && c;",
    "const x = ((b)) && c;",
  ]);
  expect(changed("const x = [1, 2n, true];")).toEqual([
    "const x = [(1 + 1), 2n, true];",
    "const x = [1, (2n + 1n), true];",
    "const x = [1, 2n, false];",
  ]);
  expect(changed("const f = () => { if (a) return; };")).toEqual([
    "const f = () => { if (!(a)) return; };",
    "const f = () => { ; };",
  ]);
  expect(changed("const f = () => { a(); b(); };")).toEqual([
    "const f = () => { return; a(); b(); };",
    "const f = () => { ; b(); };",
    "const f = () => { a(); ; };",
  ]);
});

test("types, imports, descriptions, log lines and spans have no mutant", () => {
  expect(
    changed(`import a from "./a.ts";
type T = 1 | true;
const x: { a: 1 } = f({ description: "x".repeat(2) });
function* g() {
  yield* Effect.logWarning(a < b);
}
const h = () => { console.error(1); };`),
  ).toEqual([]);
});

test("the tests of a file import it through values, the mirrored and nearest first", () => {
  const importers = importersOf(
    new Map([
      ["core/log/a.ts", ""],
      ["core/b.ts", 'export { a } from "./log/a.ts";'],
      ["test/z.test.ts", 'import "../core/b.ts";'],
      ["test/y.test.ts", 'import { a } from "../core/log/a.ts";'],
      ["test/core/log/a.test.ts", 'import { b } from "../../../core/b.ts";'],
      ["test/types.test.ts", 'import type { A } from "../core/log/a.ts";'],
      ["test/late.test.ts", 'await import("../core/log/a.ts");'],
    ]),
  );
  const isTest = (file: string) => file.endsWith(".test.ts");
  expect(coveringTests(importers, "core/log/a.ts", isTest, 9)).toEqual([
    "test/core/log/a.test.ts",
    "test/late.test.ts",
    "test/y.test.ts",
    "test/z.test.ts",
  ]);
  expect(coveringTests(importers, "core/log/a.ts", isTest, 1)).toHaveLength(1);
});

test("a mutant in a copy of the tree fails its test there, an endless one is ended, and the tree stays as it is", async () => {
  const file = "core/domain/amount.ts";
  expect(filesOf(ROOT)).toContain(file);
  const before = await Bun.file(`${ROOT}/${file}`).text();
  await using copy = await treeCopy(ROOT);
  const tests = "test/own.test.ts";
  await copy.write(
    tests,
    `import { test } from "bun:test"; import "../${file}"; test("loads", () => {});`,
  );
  const run = (timeoutMs: number) =>
    runTests(copy.folder, [tests], timeoutMs, { env: {}, stop: new AbortController().signal });
  expect(await run(60_000)).toEqual({ kind: "passed" });
  await copy.write(file, 'throw new Error("mutated");');
  expect(await run(60_000)).toEqual({ kind: "failed", file: tests });
  await copy.write(file, "for (;;);");
  expect(await run(1000)).toEqual({ kind: "timed-out" });
  expect(await Bun.file(`${ROOT}/${file}`).text()).toBe(before);
}, 120_000);
