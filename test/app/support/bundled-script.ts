import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { BunPlugin } from "bun";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** A folder for files that tools can make again. */
const FOLDER = join(ROOT, "node_modules/.cache/test-bundles");
const LEDGER = "adapters/local-ledger/main.ts";
const WORKER = "app/sync-worker/worker.ts";
const SCRIPTS = [
  "app/main.ts",
  "app/commands/demo.ts",
  "app/commands/doctor.ts",
  "app/commands/sync.ts",
  "app/commands/verify.ts",
  LEDGER,
  WORKER,
];
/** The sources of the scripts. A change of any of them makes a new bundle. */
const SOURCES = [
  "bun.lock",
  "test/app/support/bundled-script.ts",
  ...["adapters", "app", "core", "ports"].map((folder) => `${folder}/**/*.{css,html,js,json,ts}`),
];

const bundleOf = (folder: string, script: string): string =>
  join(folder, script.replace(/\.ts$/, ".js"));

/** Lets modules find the files beside them, as if they had not been moved. The ledger's process and the worker run bundles. */
const stayWhereTheyAre = (folder: string): BunPlugin => ({
  name: "import.meta.url of the source",
  setup: (build) => {
    build.onLoad({ filter: /\/(app|adapters)\/.*\.ts$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const url = JSON.stringify(pathToFileURL(path).href);
      const bundle = (script: string) =>
        `new URL(${JSON.stringify(pathToFileURL(bundleOf(folder, script)).href)})`;
      const contents = source
        .replaceAll('new URL("./main.ts", import.meta.url)', bundle(LEDGER))
        .replaceAll('new URL("./worker.ts", import.meta.url)', bundle(WORKER))
        .replaceAll("import.meta.url", url);
      return { contents, loader: "ts" };
    });
  },
});

const keyOfSources = async (): Promise<string> => {
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version);
  const paths = SOURCES.flatMap((glob) => [...new Bun.Glob(glob).scanSync({ cwd: ROOT })]);
  for (const path of paths.toSorted())
    hash.update(path).update(await Bun.file(join(ROOT, path)).bytes());
  return hash.digest("hex").slice(0, 16);
};

/** The folder with every script's bundle. Built unless an earlier test process with the same sources has built it. */
const build = async (): Promise<string> => {
  const key = await keyOfSources();
  const folder = join(FOLDER, key);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${process.pid}`;
  await Bun.build({
    entrypoints: SCRIPTS.map((script) => join(ROOT, script)),
    root: ROOT,
    outdir: draft,
    naming: { entry: "[dir]/[name].js" },
    target: "bun",
    // Native code is loaded from node_modules.
    external: ["litesvm"],
    plugins: [stayWhereTheyAre(folder)],
  });
  await mkdir(FOLDER, { recursive: true });
  // Moved into place as a whole. When another process was faster, its folder has the same content.
  await rename(draft, folder).catch(() => rm(draft, { recursive: true }));
  const stale = (await readdir(FOLDER)).filter((name) => !name.startsWith(key));
  await Promise.all(stale.map((name) => rm(join(FOLDER, name), { recursive: true, force: true })));
  return folder;
};

let made: Promise<string> | undefined;

/** A script of SCRIPTS and its imports in one file, which starts in a third of the CPU time. */
export const bundledScript = async (script: string): Promise<string> => {
  const path = bundleOf(await (made ??= build()), relative(ROOT, script));
  if (!existsSync(path)) throw new Error(`${script} is not among the scripts that are bundled`);
  return path;
};
