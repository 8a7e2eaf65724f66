import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chooseForm, type CodedText, codedText, textAnswer } from "../../server/coded-text.ts";
import { once } from "../../server/once.ts";

const TYPES = { css: "text/css", js: "text/javascript" } as const;
type Extension = keyof typeof TYPES;

/** The files that pages load, by their names. Those with an entry are bundled for browsers at their first use. */
const SOURCES = {
  "console.css": { file: "console.css" },
  "console.js": { file: "console.js" },
  "reference.css": { file: "../reference/reference.css" },
  "wallets.js": { entry: "../../../../client/page/wallets.ts" },
  "sign.js": { entry: "../../../../client/page/sign.ts" },
  "demo.js": { entry: "../../../../client/page/demo.ts" },
} as const satisfies Readonly<
  Record<string, { readonly file: string } | { readonly entry: string }>
>;

/** The name of a file that pages load. */
export type AssetName = keyof typeof SOURCES;
const NAMES = Object.keys(SOURCES) as ReadonlyArray<AssetName>;

const placeOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const extensionOf = (name: string): Extension => (name.endsWith(".css") ? "css" : "js");

/** A module with all that it imports, as one text for browsers. Rejects when a source cannot be bundled. */
const bundled = async (entry: string): Promise<CodedText> => {
  const { outputs } = await Bun.build({
    entrypoints: [placeOf(entry)],
    target: "browser",
    minify: true,
  });
  return codedText((await outputs[0]?.text()) ?? "");
};

/** `isFixed`: the path has the hash of the file's bytes, so that what is there never changes. */
type Asset = {
  readonly path: string;
  readonly text: () => CodedText | Promise<CodedText>;
  readonly extension: Extension;
  readonly isFixed: boolean;
};

const asset = (name: AssetName): Asset => {
  const source = SOURCES[name];
  const extension = extensionOf(name);
  if ("entry" in source)
    return {
      path: `/assets/${name}`,
      text: once(() => bundled(source.entry)),
      extension,
      isFixed: false,
    };
  const text = readFileSync(placeOf(source.file), "utf8");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const path = `/assets/${name.replace(/\.[a-z]+$/, "")}.${hash}.${extension}`;
  return { path, text: once(() => codedText(text)), extension, isFixed: true };
};

/** Every file that pages load, read once. */
const assets = once(() => new Map(NAMES.map((name) => [name, asset(name)] as const)));

/** Where a file of the pages is. */
export const assetPath = (name: AssetName): string => assets().get(name)?.path ?? "";

/** A file by the name after `/assets/`; null for a name of no file of this version. */
export const assetAnswer = async (name: string, asked: Headers) => {
  const named = [...assets().values()].find(({ path }) => path === `/assets/${name}`);
  if (named === undefined) return null;
  return textAnswer(chooseForm(await named.text(), asked), {
    "content-type": `${TYPES[named.extension]}; charset=utf-8`,
    "cache-control": named.isFixed ? "public, max-age=31536000, immutable" : "no-cache",
  });
};
