import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import type { Page } from "playwright-core";
import {
  digestOf,
  distance,
  keptPictures,
  pictureName,
  pictureTaker,
  README_SCREENS,
  readmePicture,
  takeAll,
  WINDOWS,
} from "./pictures.ts";

/** Up to this part of what a picture shows may stand elsewhere. Another font's strokes move a tenth at most. */
const TOLERANCE = 0.14;

const kept = keptPictures();
let taker: Awaited<ReturnType<typeof pictureTaker>>;

beforeAll(async () => {
  taker = await pictureTaker();
}, 600_000);
afterAll(() => taker?.end());

test("every screen looks as it does in its kept picture, in a wide window and in a narrow one", async () => {
  const taken = await takeAll(taker);
  expect(Object.keys(taken)).toEqual(Object.keys(kept.screens));
  const changed = Object.entries(taken).flatMap(([name, picture]) => {
    const far = distance(kept.screens[name] ?? [], picture);
    return far > TOLERANCE ? [`${name}: ${far.toFixed(2)}; bun run test:more pictures`] : [];
  });
  expect(changed).toEqual([]);
}, 600_000);

const styled = (rule: string) => (page: Page) =>
  page.evaluate((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  }, rule);

/** What a picture must tell, done to an escrow's page. Narrow windows show one column. */
const FAULTS: Readonly<
  Record<string, { readonly change: (page: Page) => Promise<unknown>; readonly wideOnly?: true }>
> = {
  "a blank page": { change: (page) => page.evaluate(() => document.body.replaceChildren()) },
  "a page without its style": {
    change: (page) => page.evaluate(() => document.querySelector("link[rel=stylesheet]")?.remove()),
  },
  "two columns in one": { change: styled(".columns { display: block }"), wideOnly: true },
  "a column that moved by 3 % of the window": {
    change: styled("main { padding-left: calc(1.25rem + 3vw) }"),
  },
  "a part that is gone": { change: styled(".top { display: none }") },
};

test.each(Object.keys(FAULTS))("%s is told from the page in its kept picture", async (fault) => {
  const { change, wideOnly = false } = FAULTS[fault] ?? {};
  for (const window of wideOnly ? WINDOWS.slice(0, 1) : WINDOWS) {
    const picture = await taker.take("escrow", window, { ...(change && { change }) });
    const far = distance(kept.screens[pictureName("escrow", window)] ?? [], picture);
    expect(far).toBeGreaterThan(TOLERANCE);
  }
});

test.each(["serif", "monospace, serif"])(
  "a machine whose font is %s sees the same",
  async (font) => {
    for (const window of WINDOWS) {
      const picture = await taker.take("escrows", window, { font });
      const far = distance(kept.screens[pictureName("escrows", window)] ?? [], picture);
      expect(far).toBeLessThan(TOLERANCE);
    }
  },
);

test("pictures of two screens are never taken for one", () => {
  for (const { width } of WINDOWS) {
    const pictures = Object.entries(kept.screens).filter(([name]) => name.endsWith(`${width}`));
    for (const [one, picture] of pictures)
      for (const [other, others] of pictures)
        if (one !== other) expect(distance(picture, others)).toBeGreaterThan(2 * TOLERANCE);
  }
});

test("the README shows the pictures that were written with the kept ones, and they are small", () => {
  const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
  const shown = [...readme.matchAll(/\]\(docs\/pictures\/(\w+)\.webp\)/g)].map(([, name]) => name);
  expect(shown).toEqual([...README_SCREENS]);
  for (const name of README_SCREENS) {
    expect(statSync(readmePicture(name)).size).toBeLessThan(120_000);
    expect(digestOf(readmePicture(name))).toBe(kept.readme[name] ?? "");
  }
});
