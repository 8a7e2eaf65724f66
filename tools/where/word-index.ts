import type { Project } from "./find-name.ts";
import { routesOf } from "./places.ts";
import { wordsOf } from "./words.ts";

/** Something of the tree that words can lead to. */
export type Indexed = {
  /** What it is, for the reader. */
  readonly role: string;
  readonly file: string;
  readonly words: ReadonlyArray<string>;
  /** The words of the folders that it is in, which tell it from others of its name. */
  readonly around: ReadonlyArray<string>;
};

/** The files that the catalogue of problems is made of. */
const PROBLEMS = /^adapters\/http\/problems\/\w+-problems\.ts$/;
const ENVIRONMENT = "app/config/environment.ts";

const folderOf = (file: string): string => file.slice(0, file.lastIndexOf("/") + 1);
const nameOf = (file: string): string => file.slice(file.lastIndexOf("/") + 1);
const isTest = (file: string): boolean => file.startsWith("test/");
const isRecorded = (file: string): boolean => file.startsWith("test/vectors/");

const entry = (role: string, file: string, name: string): Indexed => ({
  role,
  file,
  words: wordsOf(name),
  around: wordsOf(folderOf(file)),
});

const foldersIn = (files: ReadonlyArray<string>): ReadonlyArray<Indexed> =>
  [...new Set(files.map(folderOf))]
    .filter((folder) => folder !== "" && !isTest(folder))
    .map((folder) => {
      const [, around = "", name = ""] = /^(.*?)([^/]+)\/$/.exec(folder) ?? [];
      return { role: "folder", file: folder, words: wordsOf(name), around: wordsOf(around) };
    });

const exportsIn = (file: string, text: string): ReadonlyArray<Indexed> =>
  Array.from(
    text.matchAll(/^export (?:const|type|class|function|async function) (\w+)/gm),
    ([, name = ""]) => entry(`export ${name}`, file, name),
  );

const headingsIn = (file: string, text: string): ReadonlyArray<Indexed> =>
  Array.from(text.matchAll(/^#{1,4} (.+)$/gm), ([, title = ""]) =>
    entry(`heading "${title}"`, file, title),
  );

const tablesIn = (file: string, text: string): ReadonlyArray<Indexed> => [
  ...Array.from(text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g), ([, name = ""]) =>
    entry(`table ${name}`, file, name),
  ),
  // A table that is made under more than one name stands in a record of functions.
  ...Array.from(
    text.matchAll(/^ {2}(\w+): \(name: string\) => `\s*CREATE TABLE/gm),
    ([, name = ""]) => entry(`table ${name}`, file, name),
  ),
];

const ofFile = (file: string, text: string): ReadonlyArray<Indexed> => {
  const stem = nameOf(file).replace(/\..*$/, "");
  const itself = entry(isTest(file) ? "test" : "file", file, stem);
  if (isTest(file)) return [itself];
  if (file.endsWith(".md")) return [itself, ...headingsIn(file, text)];
  if (!file.endsWith(".ts")) return [itself];
  const tables = /^adapters\/(?:sqlite|postgres)\//.test(file) ? tablesIn(file, text) : [];
  return [itself, ...exportsIn(file, text), ...tables];
};

const scriptsIn = (packageJson: string): ReadonlyArray<Indexed> => {
  const { scripts } = JSON.parse(packageJson) as { readonly scripts: Record<string, string> };
  return Object.entries(scripts).map(([name, command]) => {
    const [file = "package.json"] =
      command.match(/\b(?!app\/install\.ts)(?:app|client|test|tools|programs)\/[\w/.-]+\.ts/) ?? [];
    return { role: `bun run ${name}`, file, words: wordsOf(name), around: ["script", "command"] };
  });
};

/** Each problem code with the file that says what it means. */
const problemsIn = (file: string, text: string): ReadonlyArray<Indexed> =>
  PROBLEMS.test(file)
    ? Array.from(text.matchAll(/^ {2}(\w+): kind\(/gm), ([, code = ""]) =>
        entry(`problem ${code}`, file, code),
      )
    : [];

/** Everything that words can lead to: folders, files, exports, headings, tables, scripts, problem codes, settings and routes. */
export const wordIndex = ({ sources, contract }: Project): ReadonlyArray<Indexed> => [
  ...foldersIn(sources.files.filter((file) => !isRecorded(file))),
  ...sources.files
    .filter((file) => !isRecorded(file) && file !== "CHANGELOG.md")
    .flatMap((file) => ofFile(file, sources.textOf(file))),
  ...scriptsIn(sources.textOf("package.json")),
  ...sources.files.flatMap((file) => problemsIn(file, sources.textOf(file))),
  ...Array.from(sources.textOf(ENVIRONMENT).matchAll(/: variable\(\s*"(\w+)"/g), ([, name = ""]) =>
    entry(`setting ${name}`, ENVIRONMENT, name),
  ),
  ...contract.operations.flatMap((operation) =>
    routesOf(sources, [operation]).map((file) =>
      entry(`route ${operation.method} ${operation.path}`, file, operation.path),
    ),
  ),
];
