import { baseStyle, readBeside, type StaticPage, staticPage } from "../static-page.ts";

/** The page that a browser gets at `/`. */
export const consolePage = (): StaticPage =>
  staticPage({
    title: "Settlement Evidence API",
    body: readBeside(import.meta.url, "console.html"),
    style: baseStyle() + readBeside(import.meta.url, "console.css"),
    script: readBeside(import.meta.url, "console.js"),
    ownModules: true,
  });
