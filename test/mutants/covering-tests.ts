import { basename, dirname, join, normalize } from "node:path";
import { parseSync } from "oxc-parser";

/** Who imports whom, as far as values go: for each file the files that import it. */
export type Importers = ReadonlyMap<string, ReadonlySet<string>>;

/** The importers of every file among these, by their texts. Imports of types alone do not count. */
export const importersOf = (sources: ReadonlyMap<string, string>): Importers => {
  const importers = new Map<string, Set<string>>();
  for (const [file, text] of sources) {
    const { module } = parseSync(file, text);
    const named = [
      ...module.staticImports
        .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
        .map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest, isType }) =>
          moduleRequest === null || isType ? [] : [moduleRequest.value],
        ),
      ),
      ...module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
        text.slice(start + 1, end - 1),
      ),
    ];
    for (const name of named) {
      if (!name.startsWith(".")) continue;
      const target = normalize(join(dirname(file), name));
      const there = importers.get(target) ?? new Set();
      importers.set(target, there.add(file));
    }
  }
  return importers;
};

/** How many leading folders a test has in common with a source file. */
const sharedFolders = (test: string, file: string): number => {
  const others = dirname(file).split("/");
  const own = dirname(test).split("/").slice(1);
  const differs = own.findIndex((folder, i) => folder !== others[i]);
  return differs === -1 ? own.length : differs;
};

/** Names without a meaning of their own. */
const COMMON = new Set(["test", "postgres", "of", "a", "is", "index", "http", "the"]);

const wordsOf = (file: string): ReadonlyArray<string> =>
  basename(file, ".ts")
    .split(/[-.]/)
    .filter((word) => !COMMON.has(word));

/** How many words of a source file's name a test's name has. */
const sharedWords = (test: string, file: string): number => {
  const others = new Set(wordsOf(test));
  return wordsOf(file).filter((word) => others.has(word)).length;
};

/**
 * The tests that import a file, directly or through others, at most `most`. First come those that import it over the
 * fewest files, stand in its mirrored folder and bear its name.
 */
export const coveringTests = (
  importers: Importers,
  file: string,
  isTest: (file: string) => boolean,
  most: number,
): ReadonlyArray<string> => {
  const distances = new Map([[file, 0]]);
  for (const [at, distance] of distances)
    for (const importer of importers.get(at) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  const farness = (test: string): number =>
    (distances.get(test) ?? 0) - 2 * sharedFolders(test, file) - 3 * sharedWords(test, file);
  return [...distances.keys()]
    .filter(isTest)
    .sort((a, b) => farness(a) - farness(b) || (a < b ? -1 : 1))
    .slice(0, most);
};
