import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** A file's text, by its path from this folder. */
export const shellFile = (file: string): string => readFileSync(pathOf(file), "utf8");

/** The style sheet of every page: a page's frame, the parts that pages are made of, and what single screens add. */
export const consoleSheet = (): string =>
  ["frame.css", "parts.css", "screens.css"].map(shellFile).join("");

/** A script that imports nothing, without its comments and indentation, by its path from this folder. */
export const shellScript = (file: string): string =>
  new Bun.Transpiler({ loader: "js", target: "browser", minifyWhitespace: true }).transformSync(
    shellFile(file),
  );

/**
 * A script and all that it imports as one minified module for browsers, by its path from this folder. The same sources
 * give the same text.
 */
export const browserScript = async (entry: string): Promise<string> => {
  const { outputs } = await Bun.build({
    entrypoints: [pathOf(entry)],
    target: "browser",
    minify: true,
  });
  const [module] = outputs;
  if (module === undefined) throw new Error(`${entry} has no bundle`);
  return module.text();
};
