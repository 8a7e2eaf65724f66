import { mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

/** Where the recorded answers are. */
export const VECTORS = join(import.meta.dir, "../../vectors/http-answers");

/** The file in the folder that is written by hand. */
const BY_HAND = "README.md";

/** The recorded files of a folder, by name. */
export const readFiles = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const names = (await readdir(folder)).filter((name) => name !== BY_HAND).sort();
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await Bun.file(join(folder, name)).text()] as const),
    ),
  );
};

/** Writes these files into a folder and removes all other recorded files. */
export const writeFiles = async (
  folder: string,
  files: ReadonlyMap<string, string>,
): Promise<void> => {
  await mkdir(folder, { recursive: true });
  for (const name of (await readFiles(folder)).keys())
    if (!files.has(name)) await rm(join(folder, name));
  for (const [name, text] of files) await Bun.write(join(folder, name), text);
};
