import { createHash } from "node:crypto";
import { chooseForm, type CodedText, keptText, textAnswer } from "../../server/coded-text.ts";
import { once } from "../../server/once.ts";
import { receiptTemplate } from "../verify/receipt-template.ts";
import { browserScript, consoleSheet, shellFile, shellScript } from "./browser-script.ts";

const TYPES = { css: "text/css", js: "text/javascript", html: "text/html" } as const;

/** The text of a style sheet or of a script that imports nothing, or a text that is made at its first use. */
type Source = { readonly text: () => string } | { readonly make: () => Promise<string> };

const bundle = (entry: string): Source => ({ make: () => browserScript(entry) });

/** The files that pages load, by their names. Bundles come from the sources that service and client run. */
const SOURCES = {
  "console.css": { text: consoleSheet },
  "console.js": { text: () => shellScript("console.js") },
  "reference.css": { text: () => shellFile("../reference/reference.css") },
  "wallets.js": bundle("../../../../client/page/wallets.ts"),
  "sign.js": bundle("../../../../client/page/sign.ts"),
  "demo.js": bundle("../../../../client/page/demo.ts"),
  "verify.js": bundle("../verify/verify-page.ts"),
  "verdict.js": bundle("../verify/verdict-html.ts"),
  "receipt.html": { make: receiptTemplate },
} as const satisfies Readonly<Record<string, Source>>;

/** The name of a file that pages load. */
export type AssetName = keyof typeof SOURCES;

/** `isFixed`: the path has the hash of the file's bytes, so that what is there never changes. */
type Asset = {
  readonly path: string;
  readonly text: () => CodedText | Promise<CodedText>;
  readonly mediaType: string;
  readonly isFixed: boolean;
};

const asset = (name: AssetName): Asset => {
  const source: Source = SOURCES[name];
  const extension = name.slice(name.lastIndexOf(".") + 1) as keyof typeof TYPES;
  const mediaType = TYPES[extension];
  if ("make" in source)
    return {
      path: `/assets/${name}`,
      text: once(async () => keptText(await source.make())),
      mediaType,
      isFixed: false,
    };
  const text = source.text();
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const path = `/assets/${name.slice(0, -extension.length)}${hash}.${extension}`;
  return { path, text: once(() => keptText(text)), mediaType, isFixed: true };
};

/** Every file that pages load, by its name. */
const assets = once(
  () =>
    new Map(
      (Object.keys(SOURCES) as ReadonlyArray<AssetName>).map(
        (name) => [name, asset(name)] as const,
      ),
    ),
);

/** Where a file of the pages is. */
export const assetPath = (name: AssetName): string => assets().get(name)?.path ?? "";

/** A file by the name after `/assets/`; null for a name of no file of this version. */
export const assetAnswer = async (name: string, asked: Headers) => {
  const named = [...assets().values()].find(({ path }) => path === `/assets/${name}`);
  if (named === undefined) return null;
  return textAnswer(chooseForm(await named.text(), asked), {
    "content-type": `${named.mediaType}; charset=utf-8`,
    "cache-control": named.isFixed ? "public, max-age=31536000, immutable" : "no-cache",
  });
};
