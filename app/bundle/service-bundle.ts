import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isWhole, bundleOf, bundleScripts } from "./bundle-scripts.ts";

/** Whatever a bundle is made of: the sources of the service, and the versions of its packages. */
const SOURCES = [
  "{bun.lock,package.json}",
  ...["adapters", "app", "client", "core", "ports"].map(
    (folder) => `${folder}/**/*.{css,html,js,json,ts}`,
  ),
].map((pattern) => new Bun.Glob(pattern));

/** Whether a path below the root is of a file whose change changes the key. */
export const isBundledSource = (path: string): boolean => SOURCES.some((glob) => glob.match(path));

/**
 * 16 hex digits that name the sources below `root`, the version of Bun and the place where they run. A change of any
 * byte or name gives others. It reads all of them, which takes some 20 ms.
 */
export const sourceKey = (root: string, place = root): string => {
  const hash = new Bun.CryptoHasher("sha256").update(`${Bun.version}\n${place}\n`);
  const paths = SOURCES.flatMap((glob) => Array.from(glob.scanSync({ cwd: root })));
  for (const path of paths.toSorted()) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\n${content.length}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 16);
};

/** Has an empty file for each process that loads from the bundle, named by its process id. */
const USERS = "users";

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch (cause) {
    // The process of another user is alive as well.
    return (cause as NodeJS.ErrnoException).code === "EPERM";
  }
};

/**
 * Whether a process that runs on this machine loads from the bundle in `folder`. Forgets the processes that have ended.
 */
const hasUsers = async (folder: string): Promise<boolean> => {
  const users = await readdir(join(folder, USERS)).catch(() => []);
  const ended = users.filter((pid) => !isAlive(Number(pid)));
  await Promise.all(ended.map((pid) => rm(join(folder, USERS, pid), { force: true })));
  return ended.length < users.length;
};

/** Writes down that this process loads from the bundle in `folder`. Rejects when the folder cannot be written. */
const addUser = async (folder: string): Promise<void> => {
  await hasUsers(folder);
  await mkdir(join(folder, USERS), { recursive: true });
  await writeFile(join(folder, USERS, String(process.pid)), "");
};

/** The folder of the sources. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Files that can be made again. */
const CACHE = "node_modules/.cache/service-bundles";
/** Those who go back to an earlier source start as quickly. */
const KEPT = 3;
/** A draft of this age was left by a process that ended. */
const DRAFT_MS = 3_600_000;

const STARTED = [
  "app/main.ts",
  "adapters/local-ledger/main.ts",
  "app/sync-worker/worker.ts",
  "app/commands/witness.ts",
];
const SCRIPTS = [
  ...["demo", "doctor", "sync", "verify"].map((name) => `app/commands/${name}.ts`),
  ...STARTED,
];
/** A witness runs by itself for years, in a quarter less memory than with what the service's scripts share. */
const ALONE = ["app/commands/witness.ts"];

/** Removes the bundles that were used longest ago and that no process uses, and drafts that nobody finishes. */
const removeOld = async (cache: string): Promise<void> => {
  const bundles = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const path = join(cache, name);
      const isDraft = name.includes(".");
      return { path, isDraft, atMs: (await stat(path)).mtimeMs, isUsed: await hasUsers(path) };
    }),
  );
  const newest = bundles.toSorted((a, b) => b.atMs - a.atMs);
  const old = [
    ...newest
      .filter(({ isDraft }) => !isDraft)
      .slice(KEPT)
      // A running service may still load a part of its bundle.
      .filter(({ isUsed }) => !isUsed),
    ...newest.filter(({ isDraft, atMs }) => isDraft && Date.now() - atMs > DRAFT_MS),
  ];
  await Promise.all(old.map(({ path }) => rm(path, { recursive: true, force: true })));
};

/** Moves a draft into place as a whole. Another process may have been faster; what is damaged makes room. */
const publish = async (draft: string, folder: string): Promise<void> => {
  try {
    await rename(draft, folder);
  } catch (cause) {
    if (isWhole(folder)) return rm(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw cause;
    await rename(folder, `${draft}.damaged`);
    await rename(draft, folder);
    await rm(`${draft}.damaged`, { recursive: true, force: true });
  }
};

/** Makes a bundle. What was written of one that cannot be made is removed. */
const make = async (root: string, place: string, folder: string): Promise<void> => {
  // Process ids are not enough: two containers may share a checkout.
  const draft = `${folder}.${randomUUID()}`;
  const order = { root, place, scripts: SCRIPTS, alone: ALONE, started: STARTED, draft };
  try {
    await bundleScripts({ ...order, folder: join(place, relative(root, folder)) });
    await publish(draft, folder);
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    throw cause;
  }
};

/**
 * The folder with the bundles of the sources below `root`; a change of the sources gives another. Makes it when it is
 * not there, in one to two seconds. The bytes are those that the same sources have in the folder `place`, wherever they
 * are made; they run there alone. Rejects when the sources cannot be bundled or the cache cannot be written.
 */
export const serviceBundle = async (root = ROOT, place = root): Promise<string> => {
  const cache = join(root, CACHE);
  const folder = join(cache, sourceKey(root, place));
  const isThere = isWhole(folder);
  if (!isThere) {
    await mkdir(cache, { recursive: true });
    await make(root, place, folder);
  }
  await addUser(folder).catch(() => undefined);
  // It is among the newest again.
  const now = new Date();
  await utimes(folder, now, now).catch(() => undefined);
  if (!isThere) await removeOld(cache).catch(() => undefined);
  return folder;
};

/** The bundle of a script, as a path; null when there is none of it. */
export const bundledScript = async (script: string, root = ROOT): Promise<string | null> => {
  const path = bundleOf(await serviceBundle(root), script);
  return existsSync(path) ? path : null;
};
