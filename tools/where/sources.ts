import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const SOURCES = [
  "{core,ports,adapters,app,client,programs,tools,test,docs}/**/*.{ts,c,h,json,md}",
  "*.md",
];

/** The texts of a source tree and what imports what. Paths are seen from its root. */
export type Sources = {
  readonly files: ReadonlyArray<string>;
  readonly textOf: (file: string) => string;
  /** What a file imports of the tree itself, types that are imported alone left out. */
  readonly importsOf: (file: string) => ReadonlyArray<string>;
  /** The files whose path begins so, or matches, and whose text matches. */
  readonly matching: (path: string | RegExp, text: RegExp) => ReadonlyArray<string>;
  /** The tests whose text holds a name in quotes of any kind. */
  readonly testsNaming: (name: string) => ReadonlyArray<string>;
};

const IMPORT = /^(?:import|export)\s(?!type\b)[^;]*?from "(\.[^"]+)"|^import "(\.[^"]+)"/gm;

/** A text between two quotes of a kind. The second one may be the first of another text. */
const QUOTED = /(["'`])([^"'`\n]+)(?=\1)/g;

/** Whether a file is a test that one of the commands runs. */
export const isTest = (file: string): boolean =>
  file.startsWith("test/") && /\.(?:test|chaos|proxy|postgres)\.ts$/.test(file);

/** Reads the source tree at a folder. */
export const readSources = (root: string): Sources => {
  const texts = new Map<string, string>();
  const imports = new Map<string, ReadonlyArray<string>>();
  // Many names stand in the same schemas: one search for each of those is enough.
  const matches = new Map<string, ReadonlyArray<string>>();
  let quotes: Map<string, Array<string>> | undefined;
  const textOf = (file: string): string => {
    const text = texts.get(file) ?? readFileSync(join(root, file), "utf8");
    texts.set(file, text);
    return text;
  };
  const files = SOURCES.flatMap((glob) => Array.from(new Bun.Glob(glob).scanSync({ cwd: root })))
    .filter((file) => !file.includes("/generated/"))
    .sort();
  /** The tests by what they quote. */
  const quotesOfTests = (): ReadonlyMap<string, ReadonlyArray<string>> => {
    if (quotes !== undefined) return quotes;
    quotes = new Map();
    for (const file of files.filter(isTest))
      for (const text of new Set(
        Array.from(textOf(file).matchAll(QUOTED), ([, , inside]) => inside ?? ""),
      ))
        quotes.set(text, [...(quotes.get(text) ?? []), file]);
    return quotes;
  };
  return {
    files,
    textOf,
    importsOf: (file) => {
      const found =
        imports.get(file) ??
        Array.from(textOf(file).matchAll(IMPORT), ([, from, alone]) =>
          normalize(join(dirname(file), from ?? alone ?? "")),
        );
      imports.set(file, found);
      return found;
    },
    matching: (path, text) => {
      const key = `${path} ${text}`;
      const isWithin = (file: string): boolean =>
        typeof path === "string" ? file.startsWith(path) : path.test(file);
      const found =
        matches.get(key) ?? files.filter((file) => isWithin(file) && text.test(textOf(file)));
      matches.set(key, found);
      return found;
    },
    testsNaming: (name) => quotesOfTests().get(name) ?? [],
  };
};

/** The files that are reached from these by imports, through files that `through` accepts; these themselves included. */
export const reachedFrom = (
  { importsOf }: Sources,
  start: ReadonlyArray<string>,
  through: (file: string) => boolean,
): ReadonlyArray<string> => {
  const reached = new Set(start);
  for (const file of reached) {
    if (!start.includes(file) && !through(file)) continue;
    for (const imported of importsOf(file)) reached.add(imported);
  }
  return [...reached];
};
