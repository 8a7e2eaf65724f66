import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json";

/** An exported type at the outermost level, with the comment before it. */
const DECLARATION =
  /(?:^\/\*\*\n(?: \*.*\n)+)?^export (?:type|interface) (\w+)\b[^]*?(?=^\/\*\*$|^export |(?![^]))/gm;

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/\w+/g));

/**
 * The text of a declaration file that only holds exported types, with those that the other declarations in `folder`
 * lead to, by themselves or through each other. `path` is the file's below `folder`. A type counts as named wherever
 * its name stands, comments included.
 */
const neededTypes = async (folder: string, path: string): Promise<string> => {
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

const UNNEEDED_DECLARATION = ".d.ts";
const IMPORTED = /(?:from|import\()\s*["'](\.[^"']*)\.js["']/g;

/**
 * The paths of the declarations in `folder` that none of the entries' declarations leads to, sorted. No importer of the
 * package can see them. `entries` are paths without suffix below `folder`.
 */
const unneededDeclarations = async (
  folder: string,
  entries: ReadonlyArray<string>,
): Promise<ReadonlyArray<string>> => {
  const needed = new Set<string>();
  const open = entries.map((entry) => join(folder, `${entry}${UNNEEDED_DECLARATION}`));
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (needed.has(path)) continue;
    needed.add(path);
    for (const [, module = ""] of (await readFile(path, "utf8")).matchAll(IMPORTED))
      open.push(join(dirname(path), `${module}${UNNEEDED_DECLARATION}`));
  }
  const all = await readdir(folder, { recursive: true });
  return all
    .filter((path) => path.endsWith(UNNEEDED_DECLARATION))
    .map((path) => join(folder, path))
    .filter((path) => !needed.has(path))
    .toSorted();
};

/** What the client's modules import from elsewhere; the versions are the service's own. */
const DEPENDENCIES = [
  "@noble/curves",
  "@noble/hashes",
  "@scure/base",
] as const satisfies ReadonlyArray<keyof typeof packageJson.dependencies>;

/** The entries by their names in an import, each with its module below `client/`. */
export const ENTRIES = {
  ".": "index",
  "./verify": "verify",
  "./node": "node/index",
  "./merchant": "merchant",
  "./x402": "x402",
  "./sessions": "sessions",
} as const;

/** The commands by their names, each with its module below `client/`. */
const COMMANDS = { "settlement-evidence": "bin/settlement-evidence" } as const;

/** The package.json of the client package. */
export const packageManifest = () => ({
  name: packageJson.name,
  version: packageJson.version,
  description:
    "Pays merchants through settlement escrows, waits for the settlement and verifies its evidence offline.",
  license: packageJson.license,
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.19" },
  exports: {
    ...Object.fromEntries(
      Object.entries(ENTRIES).map(([entry, module]) => [
        entry,
        { types: `./client/${module}.d.ts`, default: `./client/${module}.js` },
      ]),
    ),
    "./package.json": "./package.json",
  },
  bin: Object.fromEntries(
    Object.entries(COMMANDS).map(([name, module]) => [name, `./client/${module}.js`]),
  ),
  files: ["client", "core", "README.md", "LICENSE"],
  dependencies: Object.fromEntries(
    DEPENDENCIES.map((name) => [name, packageJson.dependencies[name]]),
  ),
  // Only the command `mcp` and `./x402` need them.
  peerDependencies: {
    "@modelcontextprotocol/server": packageJson.dependencies["@modelcontextprotocol/server"],
    "@x402/core": packageJson.devDependencies["@x402/core"],
  },
  peerDependenciesMeta: {
    "@modelcontextprotocol/server": { optional: true },
    "@x402/core": { optional: true },
  },
});

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSC = "node_modules/typescript/bin/tsc";
/** Below the folder of the build. */
const PACKAGE = "client";
/** The types of every record of the HTTP contract, below the package's folder. */
const CONTRACT = "client/generated/contract.d.ts";
/** The package's file, below the folder of the build. */
const PACKAGE_FILE = "settlement-evidence.tgz";

/** The package could not be built: what the failing tool said. */
class PackageNotBuilt extends Error {
  override readonly name = "PackageNotBuilt";
}

const run = async (cwd: string, ...command: ReadonlyArray<string>): Promise<void> => {
  const child = Bun.spawn([process.execPath, ...command], {
    cwd,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new PackageNotBuilt(`${command.join(" ")}: ${`${err}${out}`.trim()}`);
};

/** The declarations name modules by their sources; a package has none. */
const nameModules = async (folder: string): Promise<void> => {
  for (const path of await readdir(folder, { recursive: true })) {
    if (!path.endsWith(".d.ts")) continue;
    const text = await readFile(join(folder, path), "utf8");
    await writeFile(
      join(folder, path),
      text.replaceAll(/((?:from|import\()\s*["']\.[^"']*)\.ts(["'])/g, "$1.js$2"),
    );
  }
};

/** A built package: its file, its SHA-256 as 64 hex digits, and its size in bytes. */
export type BuiltPackage = {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
};

/**
 * Builds the client package below `folder`, an absolute path. The same sources give the same bytes. @throws
 * PackageNotBuilt with what the failing tool said.
 */
export const buildPackage = async (folder: string): Promise<BuiltPackage> => {
  const place = join(folder, PACKAGE);
  await rm(place, { recursive: true, force: true });
  await mkdir(place, { recursive: true });
  const compile = (...options: ReadonlyArray<string>) =>
    run(ROOT, TSC, "--project", "tsconfig.client.json", "--outDir", place, ...options);
  // The declarations hold every doc comment, and the repository the others.
  await Promise.all([
    compile("--declaration", "false", "--removeComments"),
    compile("--emitDeclarationOnly"),
  ]);
  await nameModules(place);
  const entries = Object.values(ENTRIES).map((module) => `client/${module}`);
  for (const path of await unneededDeclarations(place, entries)) await rm(path);
  await writeFile(join(place, CONTRACT), await neededTypes(place, CONTRACT));
  await writeFile(join(place, "package.json"), `${JSON.stringify(packageManifest(), null, 2)}\n`);
  await cp(join(ROOT, "LICENSE"), join(place, "LICENSE"));
  await cp(join(ROOT, "client/README.md"), join(place, "README.md"));
  // The package holds its files' modes, which the umask of this process must not decide.
  for (const entry of await readdir(place, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await chmod(join(entry.parentPath, entry.name), 0o644);
  const draft = join(folder, `${PACKAGE_FILE}.new`);
  await run(place, "pm", "pack", "--ignore-scripts", "--quiet", "--filename", draft);
  const path = join(folder, PACKAGE_FILE);
  await rename(draft, path);
  const bytes = await readFile(path);
  return { path, sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
};
