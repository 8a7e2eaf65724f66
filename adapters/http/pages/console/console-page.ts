import { fileURLToPath } from "node:url";
import { baseStyle, readBeside, type StaticPage, staticPage } from "../static-page.ts";

/**
 * The console's verifier as the text of one module for browsers, made from the same sources that the
 * service and the command line run. Building it takes 40 ms, so it is built at the first request.
 */
export const verifierModule = async (): Promise<string> => {
  const built = await Bun.build({
    entrypoints: [fileURLToPath(new URL("verify-packet.ts", import.meta.url))],
    target: "browser",
    minify: true,
  });
  const [module] = built.outputs;
  if (module === undefined) throw new Error("the console's verifier has no bundle");
  return module.text();
};

/** The page that a browser gets at `/`. */
export const consolePage = (): StaticPage =>
  staticPage({
    title: "Settlement Evidence API",
    body: readBeside(import.meta.url, "console.html"),
    style: baseStyle() + readBeside(import.meta.url, "console.css"),
    script: readBeside(import.meta.url, "console.js"),
    ownModules: true,
  });
