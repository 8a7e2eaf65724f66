import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** An exported type at the outermost level, with the comment before it. */
const DECLARATION =
  /(?:^\/\*\*\n(?: \*.*\n)+)?^export (?:type|interface) (\w+)\b[^]*?(?=^\/\*\*$|^export |(?![^]))/gm;

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/\w+/g));

/**
 * The text of a declaration file that only holds exported types, with those that the other declarations in `folder` lead to, by themselves or through each
 * other. `path` is the file's below `folder`. A type counts as named wherever its name stands, comments included.
 */
export const neededTypes = async (folder: string, path: string): Promise<string> => {
  const types = [...(await readFile(join(folder, path), "utf8")).matchAll(DECLARATION)].map(
    ([text, name = ""]) => ({ name, text, words: wordsOf(text) }),
  );
  const others = (await readdir(folder, { recursive: true })).filter(
    (name) => name.endsWith(".d.ts") && name !== path,
  );
  const open: Array<ReadonlySet<string>> = [];
  for (const name of others) open.push(wordsOf(await readFile(join(folder, name), "utf8")));
  const needed = new Set<string>();
  for (let words = open.pop(); words !== undefined; words = open.pop())
    for (const each of types)
      if (words.has(each.name) && !needed.has(each.name)) {
        needed.add(each.name);
        open.push(each.words);
      }
  return types
    .filter(({ name }) => needed.has(name))
    .map(({ text }) => text)
    .join("");
};
