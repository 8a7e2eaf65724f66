import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chooseForm, type CodedText, codedText, textAnswer } from "../../server/coded-text.ts";
import { once } from "../../server/once.ts";

const TYPES = { css: "text/css", js: "text/javascript" } as const;
type Extension = keyof typeof TYPES;

/** The files that pages load, by their names. Those with an entry point are bundled for browsers at their first use. */
const SOURCES = {
  "console.css": { file: "console.css" },
  "console.js": { file: "console.js" },
  "reference.css": { file: "../reference/reference.css" },
} as const satisfies Readonly<Record<string, { readonly file: string }>>;

/** The name of a file that pages load. */
export type AssetName = keyof typeof SOURCES;

const readText = (file: string): string =>
  readFileSync(fileURLToPath(new URL(file, import.meta.url)), "utf8");

const extensionOf = (name: string): Extension => (name.endsWith(".css") ? "css" : "js");

type Asset = { readonly path: string; readonly text: CodedText; readonly extension: Extension };

const asset = (name: AssetName): Asset => {
  const text = readText(SOURCES[name].file);
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const extension = extensionOf(name);
  const path = `/assets/${name.replace(/\.[a-z]+$/, "")}.${hash}.${extension}`;
  return { path, text: codedText(text), extension };
};

/** Every file that pages load, read once. */
const assets = once(
  () =>
    new Map(
      (Object.keys(SOURCES) as ReadonlyArray<AssetName>).map(
        (name) => [name, asset(name)] as const,
      ),
    ),
);

/** Where a file of the pages is: its name has the hash of its bytes, so that it never changes. */
export const assetPath = (name: AssetName): string => assets().get(name)?.path ?? "";

/** A file by the name after `/assets/`; null for a name of no file of this version. */
export const assetAnswer = (name: string, asked: Headers) => {
  const found = [...assets().values()].find(({ path }) => path === `/assets/${name}`);
  if (found === undefined) return null;
  return textAnswer(chooseForm(found.text, asked), {
    "content-type": `${TYPES[found.extension]}; charset=utf-8`,
    "cache-control": "public, max-age=31536000, immutable",
  });
};
