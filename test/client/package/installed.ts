import {
  mkdir,
  mkdtemp,
  realpath,
  symlink,
  writeFile,
  readdir,
  readFile,
  rename,
  rm,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  type BuiltPackage,
  packageManifest,
  buildPackage,
} from "../../../app/client-package/build-package.ts";
import { tmpdir } from "../../temporary-root.ts";
import { createHash, randomUUID } from "node:crypto";
import { ROOT, sourceKey } from "../../../app/bundle/service-bundle.ts";

const CACHE = join(ROOT, "node_modules/.cache/client-package");
/** What a package is made of beside the sources that a bundle of the service is made of. */
const MORE = [
  "tsconfig.json",
  "tsconfig.client.json",
  "client/README.md",
  "CHANGELOG.md",
  "LICENSE",
];

const keyOfNow = async (): Promise<string> => {
  const hash = createHash("sha256").update(sourceKey(ROOT));
  for (const path of MORE) hash.update(await readFile(join(ROOT, path)));
  return hash.digest("hex").slice(0, 16);
};

/**
 * The client package of the sources as they are. One test builds it, which takes seconds, and the others find it;
 * several may ask at once. It must not be written to.
 */
const builtPackage = async (): Promise<BuiltPackage> => {
  const name = `${await keyOfNow()}.tgz`;
  const path = join(CACHE, name);
  if (!(await Bun.file(path).exists())) {
    const draft = join(CACHE, randomUUID());
    await mkdir(draft, { recursive: true });
    try {
      await rename((await buildPackage(draft)).path, path);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    const others = (await readdir(CACHE)).filter(
      (other) => other.endsWith(".tgz") && other !== name,
    );
    await Promise.all(others.map((other) => rm(join(CACHE, other), { force: true })));
  }
  const bytes = await readFile(path);
  return { path, sha256: createHash("sha256").update(bytes).digest("hex"), bytes: bytes.length };
};

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
