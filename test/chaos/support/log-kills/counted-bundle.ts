import { dirname } from "node:path";
import type { BunPlugin } from "bun";
import { freshPath } from "../chaos-run.ts";

/** Gives the adapters counted functions of the file system. */
const countedFiles: BunPlugin = {
  name: "counted files",
  setup(build) {
    build.onResolve({ filter: /^node:fs(?:\/promises)?$/ }, ({ path, importer }) => {
      if (!importer.includes("/adapters/")) return undefined;
      const name = path === "node:fs" ? "counted-fs" : "counted-fs-promises";
      return { path: `${import.meta.dir}/${name}.ts` };
    });
  },
};

/** The script that publishes until it is killed, in one file in which the adapters' changes of files are counted. */
export const countedBundle = async (): Promise<string> => {
  const { outputs } = await Bun.build({
    entrypoints: [`${import.meta.dir}/publish-until-killed.ts`],
    target: "bun",
    outdir: dirname(freshPath("script.js")),
    plugins: [countedFiles],
  });
  const [output] = outputs;
  if (output === undefined) throw new Error("the script gave no bundle");
  return output.path;
};
