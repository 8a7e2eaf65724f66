import { open, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { BunPlugin } from "bun";
import { readFileSync, statSync, writeFileSync } from "node:fs";

/** Names each file of a bundle with its size in bytes. */
const LIST = "files.json";

/**
 * Writes down which files a bundle's folder has. @throws Error when one of these paths, which lie in it, is not there.
 */
export const listFiles = (folder: string, paths: ReadonlyArray<string>): void => {
  const sizes = paths.map((path) => [relative(folder, path), statSync(path).size]);
  writeFileSync(join(folder, LIST), JSON.stringify(Object.fromEntries(sizes)));
};

const sizesIn = (folder: string): Readonly<Record<string, number>> =>
  JSON.parse(readFileSync(join(folder, LIST), "utf8")) as Record<string, number>;

/** The paths of a bundle's files, below its folder. @throws Error where there is no bundle. */
export const bundledFiles = (folder: string): ReadonlyArray<string> => Object.keys(sizesIn(folder));

/** Whether a folder is a bundle whose files are all there in full length. It takes 2 ms. */
export const isWhole = (folder: string): boolean => {
  try {
    return Object.entries(sizesIn(folder)).every(
      ([path, size]) => statSync(join(folder, path)).size === size,
    );
  } catch {
    return false;
  }
};

/** Where a script's bundle is, in a folder of bundles. */
export const bundleOf = (folder: string, script: string): string =>
  join(folder, script.replace(/\.ts$/, ".js"));

/** What to bundle, and where to. */
export type BundleOrder = {
  /** The folder of the sources. */
  readonly root: string;
  /** The folder of the sources where the bundles will run. They name files there, so that no other folder's name is in them. */
  readonly place: string;
  /** Paths below the root. */
  readonly scripts: ReadonlyArray<string>;
  /** Those of them that share nothing with the others: such a bundle has no more than its script needs. */
  readonly alone: ReadonlyArray<string>;
  /** Scripts that others start by `new URL("./file.ts", import.meta.url)`: their bundles are started instead. */
  readonly started: ReadonlyArray<string>;
  /** Where the bundles are written. */
  readonly draft: string;
  /** Where the bundles will stand when they run. */
  readonly folder: string;
};

/** The folder that a module of a package takes itself to be in, unless it declares it. */
const DIRNAME = /(?<!(?:var|let|const) )\b__dirname\b/g;

/** Lets modules find the files beside them, as if they had not been moved. */
const stayWhereTheyAre = ({ started, folder, root, place }: BundleOrder): BunPlugin => ({
  name: "import.meta.url and __dirname of the source",
  setup: (build) => {
    build.onLoad({ filter: /\.c?[jt]s$/ }, async ({ path }) => {
      const source = await readFile(path, "utf8");
      const standing = join(place, relative(root, path));
      if (path.includes("/node_modules/")) {
        // Bun writes the folder of the moment into the bundle.
        if (!path.endsWith("js") || !source.includes("__dirname")) return undefined;
        const name = JSON.stringify(dirname(standing));
        return { contents: source.replaceAll(DIRNAME, `(${name})`), loader: "js" };
      }
      if (!path.endsWith(".ts")) return undefined;
      const url = pathToFileURL(standing);
      const contents = source
        .replaceAll(/new URL\("(\.[^"]*\.ts)", import\.meta\.url\)/g, (asWritten, target) => {
          const script = started.find(
            (each) => pathToFileURL(join(place, each)).href === new URL(target, url).href,
          );
          if (script === undefined) return asWritten;
          return `new URL(${JSON.stringify(pathToFileURL(bundleOf(folder, script)).href)})`;
        })
        .replaceAll("import.meta.url", JSON.stringify(url.href));
      return { contents, loader: "ts" };
    });
  },
});

/** Bun names the sources as seen from the folder of all bundles. Stack traces read them as seen from the map. */
const nameSourcesFrom = async (map: string, draft: string): Promise<void> => {
  const content = JSON.parse(await readFile(map, "utf8")) as { sources: ReadonlyArray<string> };
  const sources = content.sources.map((source) => relative(dirname(map), join(draft, source)));
  await writeFile(map, JSON.stringify({ ...content, sources }));
};

/** Bundles some of the scripts, and returns the paths of the files. */
const buildScripts = async (
  order: BundleOrder,
  scripts: ReadonlyArray<string>,
  sourcemap: "linked" | "none",
): Promise<ReadonlyArray<string>> => {
  const { outputs } = await Bun.build({
    entrypoints: scripts.map((script) => join(order.root, script)),
    root: order.root,
    outdir: order.draft,
    naming: { entry: "[dir]/[name].js", chunk: "shared/[hash].js" },
    target: "bun",
    splitting: true,
    sourcemap,
    // Native code is loaded from node_modules.
    external: ["litesvm"],
    plugins: [stayWhereTheyAre(order)],
  });
  for (const { path, kind } of outputs)
    if (kind === "sourcemap") await nameSourcesFrom(path, order.draft);
  return outputs.map(({ path }) => path);
};

/**
 * Bundles scripts, one file each and one for what several share, with source maps for stack traces, of those
 * alone without. All is on the disk when it completes. Rejects when a source cannot be read or resolved, or the draft cannot be written.
 */
export const bundleScripts = async (order: BundleOrder): Promise<void> => {
  const { scripts, alone, draft } = order;
  const together = scripts.filter((script) => !alone.includes(script));
  const paths = [...(await buildScripts(order, together, "linked"))];
  // Whoever has a source map reads it at the first error, and holds it from then on: 4 MB of a witness's 60.
  for (const script of alone) paths.push(...(await buildScripts(order, [script], "none")));
  listFiles(draft, paths);
  // A machine that loses its power should not find the folder with empty files in it.
  for (const path of paths) {
    const file = await open(path);
    await file.sync();
    await file.close();
  }
};
