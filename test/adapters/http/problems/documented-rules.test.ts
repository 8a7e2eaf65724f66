import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SETTLEMENT_RULES } from "../../../../core/domain/relay/settlement-rule.ts";
import { STATE_RULES } from "../../../../core/use-cases/request-errors.ts";

const PROTOCOL = readFileSync(join(import.meta.dir, "../../../../docs/protocol.md"), "utf8");

/** The rules in the first column of a section's table of rules, sorted. */
const rulesUnder = (heading: string): ReadonlyArray<string> => {
  const section = PROTOCOL.split(/^#{2,3} /m).find((each) => each.startsWith(`${heading}\n`)) ?? "";
  const table = /^\| rule .*\n(?:\|.*\n)+/m.exec(section)?.[0] ?? "";
  const cells = table.split("\n").map((row) => row.split("|")[1] ?? "");
  return cells
    .flatMap((cell) => Array.from(cell.matchAll(/`(\w+)`/g), ([, rule = ""]) => rule))
    .toSorted();
};

test.each([
  ["Prepare operations", STATE_RULES],
  ["Checks against the ledger", SETTLEMENT_RULES],
])("protocol.md lists every rule under %s, each once", (heading, rules) => {
  expect(rulesUnder(heading)).toEqual([...rules].toSorted());
});
