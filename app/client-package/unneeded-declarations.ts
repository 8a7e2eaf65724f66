import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const DECLARATION = ".d.ts";
const IMPORTED = /(?:from|import\()\s*["'](\.[^"']*)\.js["']/g;

/**
 * The paths of the declarations in `folder` that none of the entries' declarations leads to, sorted. No importer of the package can see them. `entries`
 * are paths without suffix below `folder`.
 */
export const unneededDeclarations = async (
  folder: string,
  entries: ReadonlyArray<string>,
): Promise<ReadonlyArray<string>> => {
  const needed = new Set<string>();
  const open = entries.map((entry) => join(folder, `${entry}${DECLARATION}`));
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (needed.has(path)) continue;
    needed.add(path);
    for (const [, module = ""] of (await readFile(path, "utf8")).matchAll(IMPORTED))
      open.push(join(dirname(path), `${module}${DECLARATION}`));
  }
  const all = await readdir(folder, { recursive: true });
  return all
    .filter((path) => path.endsWith(DECLARATION))
    .map((path) => join(folder, path))
    .filter((path) => !needed.has(path))
    .toSorted();
};
