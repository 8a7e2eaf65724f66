import { readBeside, type StaticPage, staticPage } from "../static-page.ts";

/** The page at `/docs`, which renders the service's own OpenAPI document. */
export const referencePage = (): StaticPage =>
  staticPage({
    title: "API reference — Settlement Evidence API",
    body: readBeside(import.meta.url, "reference.html"),
    style: readBeside(import.meta.url, "reference.css"),
    script: readBeside(import.meta.url, "reference.js"),
  });
