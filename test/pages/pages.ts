import { join } from "node:path";
import { readFiles, VECTORS } from "../conformance/http-answers/vector-folder.ts";
import { commandsPage } from "./commands-page.ts";
import { httpPage } from "./http-page.ts";
import { settingsPage } from "./settings-page.ts";

const DOCS = join(import.meta.dir, "../../docs");

/** What each generated page of docs/ must be, by the path of its file. */
export const generatedPages = async (): Promise<ReadonlyMap<string, string>> =>
  new Map([
    [join(DOCS, "http.md"), httpPage(await readFiles(VECTORS))],
    [join(DOCS, "settings.md"), settingsPage()],
    [join(DOCS, "commands.md"), await commandsPage()],
  ]);

/** Writes them. */
export const writePages = async (): Promise<void> => {
  for (const [path, text] of await generatedPages()) await Bun.write(path, text);
};
