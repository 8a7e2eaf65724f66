import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ROOT } from "../bundle/service-bundle.ts";
import { filesBelow, PROOF_FILE, type ReleaseFile } from "./make-release.ts";

/** Runs a program to its end. @throws Error with what it said when it fails. */
const run = async (
  cwd: string,
  command: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} failed in ${cwd}: ${said.trim()}`);
};

/** What two machines have differently, and a release must not depend on. */
const MACHINES = [
  { path: "one", umask: "022", env: { TZ: "UTC", LANG: "C" } },
  { path: "another folder/deeper", umask: "077", env: { TZ: "Asia/Kathmandu", LANG: "C.UTF-8" } },
] as const;

/** How two releases differ in one file. */
export type Difference = {
  readonly path: string;
  /** In words: who lacks it, or which byte is the first that differs. */
  readonly how: string;
};

/** What stands around the first byte in which two texts differ, or that one is the other's beginning. */
const firstDifference = (one: Uint8Array, other: Uint8Array): string => {
  const at = one.findIndex((byte, index) => byte !== other[index]);
  const from = at === -1 ? one.length : at;
  const around = (bytes: Uint8Array): string =>
    JSON.stringify(new TextDecoder().decode(bytes.slice(Math.max(0, from - 20), from + 40)));
  return `from byte ${from} on: ${around(one)} and ${around(other)}`;
};

const releasedBelow = async (folder: string): Promise<ReadonlyArray<ReleaseFile>> =>
  (await filesBelow(folder)).filter(({ path }) => path !== PROOF_FILE);

/**
 * How the files below two folders differ, by their paths: none where each has the same files of the same bytes. Modes
 * and times do not count, nor does a proof of the log of releases, which comes after a release.
 */
export const differences = async (
  one: string,
  other: string,
): Promise<ReadonlyArray<Difference>> => {
  const [ours, theirs] = await Promise.all([releasedBelow(one), releasedBelow(other)]);
  const sums = new Map(theirs.map(({ path, sha256 }) => [path, sha256]));
  const own = new Set(ours.map(({ path }) => path));
  const changed = await Promise.all(
    ours
      .filter(({ path, sha256 }) => sums.get(path) !== sha256)
      .map(async ({ path }) => {
        if (!sums.has(path)) return { path, how: `${other} lacks it` };
        const [a, b] = await Promise.all([readFile(join(one, path)), readFile(join(other, path))]);
        return { path, how: firstDifference(a, b) };
      }),
  );
  const missing = theirs.filter(({ path }) => !own.has(path));
  return [...changed, ...missing.map(({ path }) => ({ path, how: `${one} lacks it` }))];
};

/**
 * Clones a commit into two folders, makes its release in each with other settings of the machine, and compares them,
 * and with the release in `against` where that is not null. The clones are removed. @throws Error when one cannot be
 * made.
 */
export const reproduce = async (
  commit: string,
  against: string | null,
  tell: (step: string) => void,
): Promise<ReadonlyArray<Difference>> => {
  const folder = await mkdtemp(join(tmpdir(), "release-"));
  try {
    const made: Array<string> = [];
    for (const { path, umask, env } of MACHINES) {
      const clone = join(folder, path, "clone");
      const out = join(folder, path, "release");
      tell(`building ${commit} in ${clone}`);
      await mkdir(dirname(clone), { recursive: true });
      await run(ROOT, ["git", "clone", "--quiet", "--no-checkout", ROOT, clone]);
      await run(clone, ["git", "checkout", "--quiet", "--detach", commit]);
      await run(clone, [process.execPath, "install", "--frozen-lockfile"]);
      const build = [process.execPath, "app/commands/release.ts", "--out", out];
      await run(clone, ["sh", "-c", `umask ${umask}; exec "$@"`, "sh", ...build], env);
      made.push(out);
    }
    const [first = "", second = ""] = made;
    return [
      ...(await differences(first, second)),
      ...(against === null ? [] : await differences(first, against)),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
