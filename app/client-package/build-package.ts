import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ENTRIES, packageManifest } from "./package-manifest.ts";
import { minifyModules } from "./minify-modules.ts";
import { unneededDeclarations } from "./unneeded-declarations.ts";
import { neededTypes } from "./needed-types.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const TSC = "node_modules/typescript/bin/tsc";
/** Below the folder of the build. */
const PACKAGE = "client";
/** The types of every record of the HTTP contract, below the package's folder. */
const CONTRACT = "client/generated/contract.d.ts";
/** The package's file, below the folder of the build. */
export const PACKAGE_FILE = "settlement-evidence.tgz";

/** The package could not be built: what the failing tool said. */
export class PackageNotBuilt extends Error {
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
 * Builds the client package below `folder`, an absolute path. The same sources give the same bytes. @throws PackageNotBuilt with what the
 * failing tool said.
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
  await minifyModules(place);
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
