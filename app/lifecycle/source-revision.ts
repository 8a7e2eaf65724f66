import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The commit that the service was started from, 40 hex digits. Null without git, and when the folder is not a
 * repository's own root, such as an unpacked archive inside another project.
 */
export const sourceRevision = (): string | null => {
  try {
    const { stdout, success } = Bun.spawnSync(["git", "rev-parse", "--show-prefix", "HEAD"], {
      cwd: ROOT,
      stderr: "ignore",
      timeout: 2000,
    });
    return success ? (/^\n([0-9a-f]{40})\n$/.exec(stdout.toString())?.[1] ?? null) : null;
  } catch {
    return null;
  }
};
