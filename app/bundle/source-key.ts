import { readFileSync } from "node:fs";
import { join } from "node:path";

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
 * 16 hex digits that name the sources below `root`, the version of Bun and the place. A change of any byte or name gives others. It
 * reads all of them, which takes some 20 ms.
 */
export const sourceKey = (root: string): string => {
  const hash = new Bun.CryptoHasher("sha256").update(`${Bun.version}\n${root}\n`);
  const paths = SOURCES.flatMap((glob) => Array.from(glob.scanSync({ cwd: root })));
  for (const path of paths.toSorted()) {
    const content = readFileSync(join(root, path));
    hash.update(`${path}\n${content.length}\n`).update(content);
  }
  return hash.digest("hex").slice(0, 16);
};
