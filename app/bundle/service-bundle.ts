import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isWhole } from "./bundle-files.ts";
import { bundleOf, bundleScripts } from "./bundle-scripts.ts";
import { addUser, hasUsers } from "./bundle-users.ts";
import { sourceKey } from "./source-key.ts";

/** The folder of the sources. */
export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Files that can be made again. */
const CACHE = "node_modules/.cache/service-bundles";
/** Those who go back to an earlier source start as quickly. */
const KEPT = 3;
/** A draft of this age was left by a process that ended. */
const DRAFT_MS = 3_600_000;

const STARTED = ["adapters/local-ledger/main.ts", "app/sync-worker/worker.ts"];
const SCRIPTS = [
  "app/main.ts",
  ...["demo", "doctor", "sync", "verify"].map((name) => `app/commands/${name}.ts`),
  ...STARTED,
];

/** Removes the bundles that were used longest ago and that no process uses, and drafts that nobody finishes. */
const removeOld = async (cache: string): Promise<void> => {
  const found = await Promise.all(
    (await readdir(cache)).map(async (name) => {
      const path = join(cache, name);
      const isDraft = name.includes(".");
      return { path, isDraft, atMs: (await stat(path)).mtimeMs, isUsed: await hasUsers(path) };
    }),
  );
  const newest = found.toSorted((a, b) => b.atMs - a.atMs);
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
const make = async (root: string, folder: string): Promise<void> => {
  // Process ids are not enough: two containers may share a checkout.
  const draft = `${folder}.${randomUUID()}`;
  try {
    await bundleScripts({ root, scripts: SCRIPTS, started: STARTED, draft, folder });
    await publish(draft, folder);
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    throw cause;
  }
};

/**
 * The folder with the bundles of the sources below `root`; a change of the sources gives another. Makes it when it is not
 * there, in one to two seconds. Rejects when the sources cannot be bundled or the cache cannot be written.
 */
export const serviceBundle = async (root = ROOT): Promise<string> => {
  const cache = join(root, CACHE);
  const folder = join(cache, sourceKey(root));
  const isThere = isWhole(folder);
  if (!isThere) {
    await mkdir(cache, { recursive: true });
    await make(root, folder);
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
