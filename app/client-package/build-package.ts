import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import packageJson from "../../package.json";
import { keepNeededDeclarations } from "./needed-declarations.ts";

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
  files: ["client", "core", "README.md", "CHANGELOG.md", "LICENSE"],
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
  await keepNeededDeclarations(
    place,
    Object.values(ENTRIES).map((module) => `client/${module}.d.ts`),
  );
  await writeFile(join(place, "package.json"), `${JSON.stringify(packageManifest(), null, 2)}\n`);
  for (const name of ["LICENSE", "CHANGELOG.md"]) await cp(join(ROOT, name), join(place, name));
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
