import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { Effect, Exit, Scope } from "effect";
import type { Browser, Page } from "playwright-core";
import { serveHttp } from "../../adapters/http/server/serve-http.ts";
import { FULFILLED } from "../conformance/http-answers/world/escrows.ts";
import { fixedWorld } from "../conformance/http-answers/world/fixed-world.ts";
import { testBrowser } from "./chromium.ts";

// Pictures of screens from afar, which differ neither by the hour nor by a machine's fonts. Run as a program, this file
// writes those that are kept, and the README's two.

/** The screens that have pictures, by name, with their paths in the fixed world. */
export const SCREENS = {
  home: "/",
  escrows: "/escrows",
  escrow: `/escrows/${FULFILLED.address}`,
  log: "/log?leaf=3",
  verify: "/verify",
  docs: "/docs",
} as const;
type ScreenName = keyof typeof SCREENS;

/** Window sizes in pixels, and how many cells a row of their pictures has: a cell is 40 or 31 pixels wide. */
export const WINDOWS = [
  { width: 1280, height: 880, cells: 32 },
  { width: 375, height: 812, cells: 12 },
] as const;
type Window = (typeof WINDOWS)[number];

/** The screens that the README shows. */
export const README_SCREENS = ["home", "escrow"] as const satisfies ReadonlyArray<ScreenName>;

/** Where the README's picture of a screen is. */
export const readmePicture = (name: string): URL =>
  new URL(`../../docs/pictures/${name}.webp`, import.meta.url);

const KEPT = new URL("../vectors/pictures.json", import.meta.url);

/** Rows of cells. A character is a cell's grey, black first. */
export type Picture = ReadonlyArray<string>;

/** What is kept: pictures by screen and width, and SHA-256 of the README's files, which are written with them. */
export type Kept = {
  readonly screens: Readonly<Record<string, Picture>>;
  readonly readme: Readonly<Record<string, string>>;
};

/** The pictures of the repository. */
export const keptPictures = (): Kept => JSON.parse(readFileSync(KEPT, "utf8"));

/** SHA-256 of a file's bytes, in hex. */
export const digestOf = (file: URL): string =>
  createHash("sha256").update(readFileSync(file)).digest("hex");

/** The name of a screen's picture. */
export const pictureName = (name: string, { width }: Window): string => `${name} ${width}`;

const GREYS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/";
const WHITE = GREYS.length - 1;

/**
 * How much of what a picture shows stands elsewhere in another: the sum of the cells' differences, of the sum of what
 * the first has beside white. Infinite for pictures of two sizes.
 */
export const distance = (kept: Picture, taken: Picture): number => {
  const [cells, others] = [kept.join(""), taken.join("")];
  if (kept.length !== taken.length || cells.length !== others.length) return Infinity;
  let ink = 0;
  let moved = 0;
  for (const [at, cell] of cells.split("").entries()) {
    const grey = GREYS.indexOf(cell);
    ink += WHITE - grey;
    moved += Math.abs(grey - GREYS.indexOf(others[at] ?? ""));
  }
  return moved / ink;
};

/**
 * Makes each character of the page an n as wide in every font, so that lines break in the same places on every machine,
 * and a number that is another one looks the same.
 */
const levelText = (page: Page, font: string): Promise<void> =>
  page.evaluate((family) => {
    const pen = document.createElement("canvas").getContext("2d");
    if (pen === null) throw new Error("this browser draws no text");
    pen.font = `100px ${family}`;
    const [letter, blank] = ["n", " "].map((text) => pen.measureText(text).width / 100);
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`*, ::placeholder {
      font-family: ${family} !important;
      font-weight: 400 !important;
      letter-spacing: calc(0.55em - ${letter}em) !important;
      word-spacing: calc(${letter}em - ${blank}em - 0.25em) !important;
    }`);
    document.adoptedStyleSheets = [sheet];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode() !== null) {
      const { currentNode } = texts;
      currentNode.nodeValue = currentNode.nodeValue?.replaceAll(/\S/g, "n") ?? null;
    }
    for (const field of document.querySelectorAll("input"))
      field.placeholder = field.placeholder.replaceAll(/\S/g, "n");
  }, font);

/** What the browser draws of a screenshot at a width: greys of its pixels, and WebP. */
const draw = (pen: Page, png: Buffer, width: number) =>
  pen.evaluate(
    async ({ source, to, greys }) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = to;
      canvas.height = Math.round((image.height * to) / image.width);
      const context = canvas.getContext("2d");
      if (context === null) throw new Error("this browser draws no picture");
      context.imageSmoothingQuality = "high";
      context.drawImage(image, 0, 0, canvas.width, canvas.height);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const rows = Array.from({ length: canvas.height }, (_, row) =>
        Array.from({ length: to }, (_cell, column) => {
          const [red = 0, green = 0, blue = 0] = data.subarray((row * to + column) * 4);
          return greys[Math.floor((0.3 * red + 0.59 * green + 0.11 * blue) / 4)];
        }).join(""),
      );
      return { rows, webp: canvas.toDataURL("image/webp", 0.9) };
    },
    { source: `data:image/png;base64,${png.toString("base64")}`, to: width, greys: GREYS },
  );

/** A service whose data and clock stand still, and a browser that takes its screens' pictures. */
export const pictureTaker = async () => {
  const world = await fixedWorld({
    logSigner: new Uint8Array(32).fill(3),
    instance: { runsLedger: true },
  });
  const scope = Scope.makeUnsafe();
  const listen = serveHttp(world.app, { hostname: "127.0.0.1", port: 0 });
  const { url } = await Effect.runPromise(Scope.provide(listen, scope));
  const browser: Browser = await testBrowser();
  const pen = await browser.newPage();
  const page = await browser.newPage({ colorScheme: "light", reducedMotion: "reduce" });

  return {
    /** The picture of a screen in a window, in a font, after `change` was done to its page. */
    take: async (
      name: ScreenName,
      window: Window,
      { font = "sans-serif", change = () => Promise.resolve() }: TakeOptions = {},
    ): Promise<Picture> => {
      await page.setViewportSize(window);
      await page.goto(url + SCREENS[name]);
      await levelText(page, font);
      await change(page);
      return (await draw(pen, await page.screenshot({ timeout: 120_000 }), window.cells)).rows;
    },
    /** The screen as a reader sees it on a desktop, as WebP. */
    show: async (name: ScreenName): Promise<Buffer> => {
      const size = { width: 1280, height: 800 };
      await page.setViewportSize(size);
      await page.goto(url + SCREENS[name]);
      const { webp } = await draw(pen, await page.screenshot({ timeout: 120_000 }), size.width);
      return Buffer.from(webp.slice(webp.indexOf(",") + 1), "base64");
    },
    end: async (): Promise<void> => {
      await browser.close();
      await Effect.runPromise(Scope.close(scope, Exit.void));
      await world.end();
    },
  };
};

/** What is other than usual when a picture is taken. */
type TakeOptions = {
  readonly font?: string;
  readonly change?: (page: Page) => Promise<unknown>;
};

/** Every screen's picture in every window, by its name. */
export const takeAll = async (
  taker: Pick<Awaited<ReturnType<typeof pictureTaker>>, "take">,
): Promise<Kept["screens"]> => {
  const screens: Record<string, Picture> = {};
  for (const window of WINDOWS)
    for (const name of Object.keys(SCREENS) as ReadonlyArray<ScreenName>)
      screens[pictureName(name, window)] = await taker.take(name, window);
  return screens;
};

if (import.meta.main) {
  const taker = await pictureTaker();
  const screens = await takeAll(taker);
  const readme: Record<string, string> = {};
  for (const name of README_SCREENS) {
    const file = readmePicture(name);
    writeFileSync(file, await taker.show(name));
    readme[name] = digestOf(file);
  }
  writeFileSync(KEPT, `${JSON.stringify({ screens, readme }, null, 2)}\n`);
  await taker.end();
}
