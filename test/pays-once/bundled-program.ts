import { basename, join } from "node:path";

/** The command of a program, bundled into `folder` so that it starts sooner. */
export const bundledProgram = async (path: string, folder: string): Promise<string> => {
  await Bun.build({
    entrypoints: [path],
    outdir: folder,
    target: "bun",
    naming: "[name].js",
  });
  return `exec '${process.execPath}' '${join(folder, basename(path, ".ts"))}.js'`;
};
