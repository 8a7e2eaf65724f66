import * as promises from "node:fs/promises";
import { slowOperation } from "./kill-switch.ts";

// What the bundle of the killed process has in place of node:fs/promises: each change of a file is an operation.

const { open: openUncounted, rename: renameUncounted, mkdir: mkdirUncounted } = promises;

/** `open`, whose handles count their writes and syncs. */
export const open = async (...asked: Parameters<typeof openUncounted>) => {
  const file = await slowOperation(() => openUncounted(...asked));
  const [write, sync] = [file.writeFile.bind(file), file.sync.bind(file)];
  file.writeFile = ((...written: Parameters<typeof write>) =>
    slowOperation(() => write(...written))) as typeof file.writeFile;
  file.sync = () => slowOperation(sync);
  return file;
};

/** `rename`, counted. */
export const rename = (...asked: Parameters<typeof renameUncounted>) =>
  slowOperation(() => renameUncounted(...asked));

/** `mkdir`, counted. */
export const mkdir = (path: string, options?: { readonly recursive?: boolean }) =>
  slowOperation(() => mkdirUncounted(path, options));

export const { link, readFile, readdir, rm, stat, unlink, writeFile, mkdtemp, access, lstat } =
  promises;
