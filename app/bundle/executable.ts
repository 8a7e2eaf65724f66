import { existsSync, statSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { exitWith } from "../command-line/command-line.ts";

/** What comes first on the command line, and its script; without one of them the service starts. */
const SCRIPTS: Readonly<Record<string, string>> = {
  cli: "app/commands/cli.ts",
  demo: "app/commands/demo.ts",
  deploy: "app/commands/deploy.ts",
  doctor: "app/commands/doctor.ts",
};
const SERVICE = "app/start.ts";

/** Where the tree is unpacked: systemd's CacheDirectory, or the user's cache (XDG Base Directory, 0.8). */
const cacheFolder = (): string =>
  process.env["CACHE_DIRECTORY"] ??
  join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "settlement-evidence");

/** Whether nobody else can have written there. */
const isOwn = (folder: string): boolean => {
  const { uid, mode } = statSync(folder);
  return uid === process.getuid?.() && (mode & 0o022) === 0;
};

/** The folder of the unpacked tree. A process that is killed meanwhile leaves a draft, never half of the folder. */
const unpacked = async (archive: string, key: string): Promise<string> => {
  const cache = cacheFolder();
  await mkdir(cache, { recursive: true, mode: 0o700 });
  if (!isOwn(cache)) throw new Error(`${cache} can be written by others`);
  const folder = join(cache, key);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${crypto.randomUUID()}`;
  try {
    await new Bun.Archive(await Bun.file(archive).bytes()).extract(draft);
    await rename(draft, folder);
  } catch (cause) {
    await rm(draft, { recursive: true, force: true });
    // Another process may have been faster.
    if (!existsSync(folder)) throw cause;
  }
  return folder;
};

/**
 * What an executable does: unpacks its tree at its first start, in some seconds, and becomes Bun on a script of it. The
 * executable has Bun in itself. `key` names the archive's content.
 */
export const runUnpacked = async (archive: string, key: string): Promise<never> => {
  const [name = "", ...rest] = process.argv.slice(2);
  const script = Object.hasOwn(SCRIPTS, name) ? SCRIPTS[name] : undefined;
  const folder = await unpacked(archive, key).catch((cause: unknown) =>
    exitWith(
      1,
      `The executable cannot unpack itself: ${cause instanceof Error ? cause.message : String(cause)}. Set CACHE_DIRECTORY to a folder of this user's own.`,
    ),
  );
  const args = script === undefined ? process.argv.slice(2) : rest;
  if (process.execve === undefined) return exitWith(1, "This system cannot replace a process.");
  return process.execve(
    process.execPath,
    [process.execPath, join(folder, script ?? SERVICE), ...args],
    // Has the executable, and each child that it starts, act as Bun.
    { ...process.env, BUN_BE_BUN: "1" },
  );
};
