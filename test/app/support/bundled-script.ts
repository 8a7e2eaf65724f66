import { mkdir, rename } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BunPlugin } from "bun";

/** Where tools keep what they can make again. */
const FOLDER = fileURLToPath(new URL("../../../node_modules/.cache/test-bundles", import.meta.url));

/** Lets modules find what lies beside them, as if they had not been moved into the bundle. */
const STAY_WHERE_THEY_ARE: BunPlugin = {
  name: "import.meta.url of the source",
  setup: (build) => {
    build.onLoad({ filter: /\/(app|adapters)\/.*\.ts$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const url = JSON.stringify(pathToFileURL(path).href);
      return { contents: source.replaceAll("import.meta.url", url), loader: "ts" };
    });
  },
};

const bundles = new Map<string, Promise<string>>();

const build = async (script: string): Promise<string> => {
  const { outputs } = await Bun.build({
    entrypoints: [script],
    target: "bun",
    plugins: [STAY_WHERE_THEY_ARE],
  });
  const [output] = outputs;
  if (output === undefined) throw new Error(`${script} gave no bundle`);
  const path = join(FOLDER, `${basename(script, ".ts")}.js`);
  await mkdir(FOLDER, { recursive: true });
  // Renamed into place: another process may make, or start, the same bundle now.
  await Bun.write(`${path}.${process.pid}`, output);
  await rename(`${path}.${process.pid}`, path);
  return path;
};

/**
 * A script of the project and all that it imports in one file, which starts in a third of the CPU time
 * that its modules take. Made anew once in each test process.
 */
export const bundledScript = (script: string): Promise<string> => {
  const made = bundles.get(script) ?? build(script);
  bundles.set(script, made);
  return made;
};
