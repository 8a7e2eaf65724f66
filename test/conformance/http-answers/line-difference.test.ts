import { expect, test } from "bun:test";
import { differences } from "./differences.ts";
import { lineDifference } from "./line-difference.ts";

const lines = (...all: ReadonlyArray<string | number>): string => all.join("\n");

test("changed, new and removed lines are shown among their neighbours", () => {
  const before = lines(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);
  const after = lines(1, "two", 3, 4, 5, 6, 7, 8, 9, 10, 10.5, 11, 12, 13, 14, 15, 16, 17, 18, 20);
  expect(
    lineDifference(before, after)
      .split("\n")
      .map((line) => line.trimEnd()),
  ).toEqual([
    ..."  1|- 2|+ two|  3|  4|  5|  …".split("|"),
    ..."  8|  9|  10|+ 10.5|  11|  12|  13|  …".split("|"),
    ..."  16|  17|  18|- 19|  20".split("|"),
  ]);
});

test("the comparison of empty or entirely different texts ends", () => {
  expect(lineDifference("a\nb", "c")).toBe("- a\n- b\n+ c");
  expect(lineDifference("", "a")).toBe("- \n+ a");
  const long = (of: string) => lines(...Array.from({ length: 1000 }, (_, i) => `${of} ${i}`));
  expect(lineDifference(long("old"), long("new")).split("\n")).toHaveLength(61);
});

test("files are compared section by section, and sections of one file only are named", () => {
  const file = (...sections: ReadonlyArray<string>) => new Map([["a.txt", sections.join("\n")]]);
  const before = file("### one\n\n1\n", "### two\n\n2\n", "### three\n\n3\n");
  expect(differences(before, before)).toEqual([]);
  const found = differences(before, file("### one\n\n1\n", "### two\n\n2!\n", "### four\n\n4\n"));
  expect(found.map((text) => text.split("\n")[0])).toEqual([
    'a.txt: "two" differs',
    'a.txt: "three" is recorded and not asked',
    'a.txt: "four" is asked and not recorded',
  ]);
  expect(found[0]).toContain("- 2\n+ 2!");
  expect(differences(before, new Map()).length).toBe(3);
});
