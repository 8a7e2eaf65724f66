import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { tmpdir } from "../temporary-root.ts";

/** The files of a tree that git knows or would add, below its root. */
export const filesOf = (root: string): ReadonlyArray<string> => {
  const git = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"];
  const { stdout, exitCode } = Bun.spawnSync(git, { cwd: root });
  if (exitCode !== 0) throw new Error(`${root} is no git tree`);
  return [...new Set(stdout.toString().split("\0"))].filter((file) => file !== "");
};

/** A copy of a tree in a temporary folder, with the packages of the original. It is gone once disposed of. */
export const treeCopy = async (root: string) => {
  const folder = await mkdtemp(join(tmpdir(), "settlement-mutants-"));
  for (const file of filesOf(root)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(root, file), join(folder, file), { verbatimSymlinks: true }).catch(
      (cause: unknown) => {
        // A file that was removed and not committed is still in the index.
        if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
      },
    );
  }
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return {
    folder,
    write: (file: string, text: string): Promise<void> => writeFile(join(folder, file), text),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
};

/** See `treeCopy`. */
export type TreeCopy = Awaited<ReturnType<typeof treeCopy>>;
