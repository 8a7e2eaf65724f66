import { join } from "node:path";

/** The command of a client of this folder, bundled into `folder` so that it starts sooner. */
export const bundledClient = async (
  name: "our-client" | "double-paying-client",
  folder: string,
): Promise<string> => {
  await Bun.build({
    entrypoints: [join(import.meta.dir, `${name}.ts`)],
    outdir: folder,
    target: "bun",
    naming: "[name].js",
  });
  return `exec '${process.execPath}' '${join(folder, `${name}.js`)}'`;
};
