import { mkdir, mkdtemp, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BuiltPackage, packageManifest } from "../../../app/client-package/build-package.ts";
import { tmpdir } from "../../temporary-root.ts";
import { builtPackage } from "./built-package.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** What a process gave: its exit code and both outputs. */
export type Ran = { readonly code: number; readonly out: string; readonly err: string };

/** Runs a program in a folder until it ends, with nothing on its standard input. */
export const run = async (cwd: string, ...command: ReadonlyArray<string>): Promise<Ran> => {
  const child = Bun.spawn([...command], {
    cwd,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, NO_COLOR: "1" },
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
};

/** The package in an empty folder of another project. */
export type Installed = { readonly folder: string; readonly built: BuiltPackage };

const emptyProject = async (): Promise<Installed> => {
  const folder = await mkdtemp(join(tmpdir(), "package-"));
  const built = await builtPackage();
  await writeFile(join(folder, "package.json"), '{"private":true,"type":"module"}\n');
  return { folder, built };
};

/** The tarball, unpacked beside the dependencies that its manifest names and no others. Needs no registry. */
export const installedOffline = async (): Promise<Installed> => {
  const installed = await emptyProject();
  const modules = join(installed.folder, "node_modules");
  const place = join(modules, "settlement-evidence");
  await mkdir(place, { recursive: true });
  const tarball = installed.built.path;
  const unpacked = await run(place, "tar", "xzf", tarball, "--strip-components=1");
  if (unpacked.code !== 0) throw new Error(unpacked.err);
  const { dependencies, peerDependencies } = packageManifest();
  for (const name of Object.keys({ ...dependencies, ...peerDependencies })) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(await realpath(join(ROOT, "node_modules", name)), join(modules, name));
  }
  return installed;
};

/** The tarball as npm installs it from a registry. @throws Error with what npm said */
export const installedByNpm = async (): Promise<Installed> => {
  const installed = await emptyProject();
  const flags = ["--no-audit", "--no-fund", "--loglevel=error", "--engine-strict"];
  const { path } = installed.built;
  const { code, err } = await run(installed.folder, "npm", "install", ...flags, path);
  if (code !== 0) throw new Error(err);
  return installed;
};
