import { sectionsOf } from "./answer-text.ts";
import { lineDifference } from "./line-difference.ts";

/** How the sections of one file differ, one text for each; empty when the files are the same. */
const fileDifferences = (name: string, before: string, after: string): ReadonlyArray<string> => {
  if (before === after) return [];
  const [old, now] = [sectionsOf(before), sectionsOf(after)];
  const sections = [...new Set([...old.keys(), ...now.keys()])].flatMap((title) => {
    const [was, is] = [old.get(title), now.get(title)];
    if (was === is) return [];
    const what =
      was === undefined
        ? "is asked and not recorded"
        : is === undefined
          ? "is recorded and not asked"
          : "differs";
    return [`${name}: "${title}" ${what}\n${lineDifference(was ?? "", is ?? "")}`];
  });
  return sections.length > 0 ? sections : [`${name} differs\n${lineDifference(before, after)}`];
};

/**
 * How two sets of files differ, one text per exchange: file, title, the lines of the first set (`-`) and of the second
 * (`+`). Empty when they are equal.
 */
export const differences = (
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): ReadonlyArray<string> =>
  [...new Set([...before.keys(), ...after.keys()])].flatMap((name) =>
    fileDifferences(name, before.get(name) ?? "", after.get(name) ?? ""),
  );
