import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ENTRIES } from "../../app/client-package/build-package.ts";
import { ROOT } from "../../app/bundle/service-bundle.ts";
import { type Installed, run } from "../client/package/installed.ts";

/** A package's declarations by their paths in it, without comments and line breaks. */
export type Declarations = Readonly<Record<string, string>>;

const PACKAGE = "node_modules/settlement-evidence";

/** The declarations of an installed package. */
export const declarationsOf = async ({ folder }: Installed): Promise<Declarations> => {
  const place = join(folder, PACKAGE);
  const paths = (await readdir(place, { recursive: true })).filter((path) =>
    path.endsWith(".d.ts"),
  );
  const texts = await Promise.all(
    paths.toSorted().map(async (path) => {
      const text = await readFile(join(place, path), "utf8");
      const bare = text.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/\s+/g, " ");
      return [path, bare.trim()] as const;
    }),
  );
  return Object.fromEntries(texts);
};

/** What only itself is assignable to, although it has not changed: a brand, and a class with private members. */
const ALONE = /unique symbol|#private/;

/** The names of types that an entry exports. */
const typesOf = (entry: string): ReadonlyArray<string> =>
  Array.from(entry.matchAll(/export (type )?\{([^}]*)\}/g), ([, all, list = ""]) =>
    list
      .split(",")
      .map((each) => each.trim())
      .filter((each) => each !== "" && (all !== undefined || each.startsWith("type ")))
      .map((each) => each.replace(/^type /, "")),
  ).flat();

/**
 * What a program that compiles with a release's declarations misses in the installed package, a line of the compiler
 * each; none where things were only added. Every exported value must serve as what it was: a function takes all that it
 * took, and gives what it gave. Every exported type must still have the members that it had.
 */
export const clientFaults = async (
  then: Declarations,
  { folder }: Installed,
): Promise<ReadonlyArray<string>> => {
  const old = join(folder, "then");
  const now = join(folder, PACKAGE);
  for (const [path, text] of Object.entries(then)) {
    const place = join(old, path);
    await mkdir(dirname(place), { recursive: true });
    const isShared = ALONE.test(text) && (await Bun.file(join(now, path)).exists());
    const up = "../".repeat(path.split("/").length);
    const shared = `export * from "${up}${PACKAGE}/${path.replace(/\.d\.ts$/, ".js")}";`;
    await writeFile(place, isShared ? shared : text);
  }
  const lines = Object.values(ENTRIES).flatMap((module, at) => {
    const entry = then[`client/${module}.d.ts`];
    if (entry === undefined) return [];
    const [before, after] = [`then${at}`, `now${at}`];
    return [
      `import type * as ${before} from "./then/client/${module}.js";`,
      `import type * as ${after} from "./${PACKAGE}/client/${module}.js";`,
      `export declare const values${at}: typeof ${after};`,
      `export const served${at}: typeof ${before} = values${at};`,
      ...typesOf(entry).map(
        (name) =>
          `export const ${name}${at} = (today: ${after}.${name}): ${before}.${name} => today;`,
      ),
    ];
  });
  await writeFile(join(folder, "compatible.ts"), lines.join("\n"));
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    module: "nodenext",
    target: "es2023",
    lib: ["es2023", "dom", "dom.asynciterable", "esnext.disposable"],
    types: [],
  };
  const project = join(folder, "compatible.json");
  await writeFile(project, JSON.stringify({ compilerOptions, files: ["compatible.ts"] }));
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const { out, code } = await run(folder, process.execPath, tsc, "--project", project);
  const faults = out.split("\n").filter((line) => /^\S.*error TS/.test(line));
  return code === 0 || faults.length > 0 ? faults : [out];
};
