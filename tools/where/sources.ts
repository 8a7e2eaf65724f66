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
  /** The files whose path begins so and whose text matches. */
  readonly matching: (prefix: string, text: RegExp) => ReadonlyArray<string>;
};

const IMPORT = /^(?:import|export)\s(?!type\b)[^;]*?from "(\.[^"]+)"|^import "(\.[^"]+)"/gm;

/** Reads the source tree at a folder. */
export const readSources = (root: string): Sources => {
  const texts = new Map<string, string>();
  const imports = new Map<string, ReadonlyArray<string>>();
  // Many names stand in the same schemas: one search for each of those is enough.
  const matches = new Map<string, ReadonlyArray<string>>();
  const textOf = (file: string): string => {
    const text = texts.get(file) ?? readFileSync(join(root, file), "utf8");
    texts.set(file, text);
    return text;
  };
  const files = SOURCES.flatMap((glob) => Array.from(new Bun.Glob(glob).scanSync({ cwd: root })))
    .filter((file) => !file.includes("/generated/"))
    .sort();
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
    matching: (prefix, text) => {
      const key = `${prefix} ${text}`;
      const found =
        matches.get(key) ??
        files.filter((file) => file.startsWith(prefix) && text.test(textOf(file)));
      matches.set(key, found);
      return found;
    },
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
