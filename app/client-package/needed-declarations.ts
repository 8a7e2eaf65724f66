import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** A statement at the outermost level of a declaration file, with the comment before it. */
type Statement = {
  readonly file: string;
  readonly text: string;
  /** Its code, without comments. */
  readonly code: string;
};

/** A declaration file, whose path is below the folder. */
type DeclarationFile = {
  readonly path: string;
  readonly statements: ReadonlyArray<Statement>;
  /** What it declares. */
  readonly own: ReadonlyMap<string, Statement>;
  /** The path of the file that each imported name is from. */
  readonly imported: ReadonlyMap<string, string>;
};

/** Each begins at the start of a line, as does what closes it. */
const STATEMENTS =
  /^(?:\/\*\*(?:[^*]|\*(?!\/))*\*\/\n)?[A-Za-z][^]*?(?=^(?:\/\*\*|[A-Za-z])|(?![^]))/gm;
const COMMENTS = /\/\*[^]*?\*\//g;
const DECLARED =
  /^(?:export )?(?:declare )?(?:abstract )?(?:type|interface|const|class|function|enum) (\w+)/;
const IMPORT = /^import (type )?\{([^}]*)\} from "(.*)";/s;
const EXPORT_FROM = /^export (?:type )?\{([^}]*)\} from "(.*)";/s;
/** A type that is named with its file, such as `import("./address.js").Address`. */
const NAMED_WITH_FILE = /import\("(.*?)"\)\.(\w+)/g;

/** Names between braces, as the file on the left has them. */
const namesIn = (list = ""): ReadonlyArray<string> =>
  list
    .split(",")
    .map((each) => each.trim().replace(/^type /, ""))
    .filter((name) => name !== "");

/** The path of what a file imports; undefined for another package. */
const importedPath = (file: string, from = ""): string | undefined =>
  from.startsWith(".") ? join(dirname(file), from.replace(/\.js$/, ".d.ts")) : undefined;

const fileOf = (path: string, text: string): DeclarationFile => {
  const statements = [...text.matchAll(STATEMENTS)].map(([statement]) => ({
    file: path,
    text: statement,
    code: statement.replaceAll(COMMENTS, "").trimStart(),
  }));
  const own = new Map<string, Statement>();
  const imported = new Map<string, string>();
  for (const statement of statements) {
    const [, declared] = DECLARED.exec(statement.code) ?? [];
    if (declared !== undefined) own.set(declared, statement);
    const [, , names, from] = IMPORT.exec(statement.code) ?? [];
    const source = importedPath(path, from);
    if (source !== undefined) for (const name of namesIn(names)) imported.set(name, source);
  }
  return { path, statements, own, imported };
};

/** An import without the names that `words` lacks; empty when it has no other. */
const prunedImport = ({ code }: Statement, words: ReadonlySet<string>): string => {
  const [, type = "", names, from = ""] = IMPORT.exec(code) ?? [];
  const used = namesIn(names).filter((name) => words.has(name));
  return used.length === 0 ? "" : `import ${type}{ ${used.join(", ")} } from "${from}";\n`;
};

/**
 * Leaves of the declaration files below `folder` only what the entries lead to: no importer of the package can see the
 * rest. `entries` are paths below `folder`.
 */
export const keepNeededDeclarations = async (
  folder: string,
  entries: ReadonlyArray<string>,
): Promise<void> => {
  const paths = (await readdir(folder, { recursive: true })).filter((path) =>
    path.endsWith(".d.ts"),
  );
  const files = new Map<string, DeclarationFile>();
  for (const path of paths)
    files.set(path, fileOf(path, await readFile(join(folder, path), "utf8")));

  /** The statement that a name of a file stands for. */
  const found = (path: string | undefined, name: string): Statement | undefined => {
    const file = files.get(path ?? "");
    return (
      file?.own.get(name) ??
      (file?.imported.has(name) ? found(file.imported.get(name), name) : undefined)
    );
  };
  /** What a statement leads to. */
  const leadsTo = ({ file, code }: Statement): ReadonlyArray<Statement | undefined> => {
    const [, names, from] = EXPORT_FROM.exec(code) ?? [];
    if (from !== undefined)
      return namesIn(names).map((name) => found(importedPath(file, from), name));
    return [
      ...(code.match(/\w+/g) ?? []).map((word) => found(file, word)),
      ...[...code.matchAll(NAMED_WITH_FILE)].map(([, source, name = ""]) =>
        found(importedPath(file, source), name),
      ),
    ];
  };

  const needed = new Set<Statement>();
  const open = entries.flatMap((path) => files.get(path)?.statements ?? []);
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (needed.has(each)) continue;
    needed.add(each);
    for (const next of leadsTo(each)) if (next !== undefined) open.push(next);
  }

  for (const { path, statements } of files.values()) {
    if (entries.includes(path)) continue;
    const kept = statements.filter((each) => needed.has(each));
    const words = new Set(kept.flatMap(({ code }) => code.match(/\w+/g) ?? []));
    const imports = statements.map((each) => prunedImport(each, words));
    const text = [...imports, ...kept.map((each) => each.text), "export {};\n"].join("");
    if (kept.length === 0) await rm(join(folder, path));
    else await writeFile(join(folder, path), text);
  }
};
