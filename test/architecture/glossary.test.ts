import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ESCROW_STATES } from "../../core/domain/escrow/escrow.ts";

const text = readFileSync(join(import.meta.dir, "../../docs/glossary.md"), "utf8");
const entries = text.split("\n").filter((line) => line.startsWith("- "));
const words = entries.map((line) => /^- \*\*([^*]+)\*\*/.exec(line)?.[1] ?? line);

test("each word has one sentence and appears once", () => {
  expect(entries.length).toBeGreaterThan(50);
  expect(entries.filter((line) => !/^- \*\*[^*]+\*\*(?: \(`\w+`\))?: [^.]+\.$/.test(line))).toEqual(
    [],
  );
  expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
});

test("the states of an escrow are those in the code", () => {
  const state = entries.find((line) => line.startsWith("- **state**")) ?? "";
  expect(ESCROW_STATES.filter((name) => !state.includes(name))).toEqual([]);
});
