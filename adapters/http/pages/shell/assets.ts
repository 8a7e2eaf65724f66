import { createHash } from "node:crypto";
import { chooseForm, type CodedText, codedText, textAnswer } from "../../server/coded-text.ts";
import { once } from "../../server/once.ts";
import { receiptTemplate } from "../verify/receipt-template.ts";
import { browserScript, shellFile } from "./browser-script.ts";

const TYPES = { css: "text/css", js: "text/javascript", html: "text/html" } as const;
type Extension = keyof typeof TYPES;

/** The files that pages load as they stand, by their names. */
const SOURCES = {
  "console.css": { file: "console.css" },
  "console.js": { file: "console.js" },
  "reference.css": { file: "../reference/reference.css" },
} as const satisfies Readonly<Record<string, { readonly file: string }>>;

/** What is bundled for browsers at its first use, by the names of the bundles. */
const MADE = {
  "verify.js": () => browserScript("../verify/verify-page.ts"),
  "receipt.html": receiptTemplate,
} as const satisfies Readonly<Record<string, () => Promise<string>>>;

/** The name of a bundle. */
type BundleName = keyof typeof MADE;

/** The name of a file that pages load. A bundle's is known once `bundled` has made it. */
export type AssetName = keyof typeof SOURCES | BundleName;

const extensionOf = (name: AssetName): Extension =>
  name.slice(name.lastIndexOf(".") + 1) as Extension;

type Asset = { readonly path: string; readonly text: CodedText; readonly extension: Extension };

const asset = (name: AssetName, text: string): Asset => {
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const extension = extensionOf(name);
  const path = `/assets/${name.replace(/\.[a-z]+$/, "")}.${hash}.${extension}`;
  return { path, text: codedText(text), extension };
};

const bundles = new Map<BundleName, Promise<Asset>>();

/**
 * Makes a bundle at its first use, in some 100 ms, from the sources that service and command line run. A page awaits it
 * before it names the bundle.
 */
export const bundled = (name: BundleName): Promise<Asset> => {
  const made =
    bundles.get(name) ??
    MADE[name]().then((text) => {
      const ready = asset(name, text);
      assets().set(name, ready);
      return ready;
    });
  bundles.set(name, made);
  return made;
};

/** Every file that pages load, by its name. */
const assets = once(
  () =>
    new Map<AssetName, Asset>(
      (Object.keys(SOURCES) as ReadonlyArray<keyof typeof SOURCES>).map(
        (name) => [name, asset(name, shellFile(SOURCES[name].file))] as const,
      ),
    ),
);

/** Where a file of the pages is: its name has the hash of its bytes, so that it never changes. */
export const assetPath = (name: AssetName): string => assets().get(name)?.path ?? "";

/** A file by the name after `/assets/`; null for a name of no file of this version. */
export const assetAnswer = async (name: string, asked: Headers) => {
  const bundle = (Object.keys(MADE) as ReadonlyArray<BundleName>).find((each) =>
    name.startsWith(each.replace(/[a-z]+$/, "")),
  );
  // A page that an earlier start of this version answered may ask for it first.
  if (bundle !== undefined) await bundled(bundle);
  const named = [...assets().values()].find(({ path }) => path === `/assets/${name}`);
  if (named === undefined) return null;
  return textAnswer(chooseForm(named.text, asked), {
    "content-type": `${TYPES[named.extension]}; charset=utf-8`,
    "cache-control": "public, max-age=31536000, immutable",
  });
};
