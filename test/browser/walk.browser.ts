import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { testBrowser } from "./chromium.ts";
import { faultsByView, openPage, VIEWS } from "./walk.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await testBrowser();
}, 600_000);
afterAll(() => browser?.close());

/** A page of one template thirty times, as the reference is, with more at its end. */
const pageWith = (last: string): string => `<!doctype html><html lang="en"><title>t</title><style>
:root { color-scheme: light dark; color: light-dark(#000, #fff); background: light-dark(#fff, #000) }
a { color: light-dark(#00c, #9cf) }
.faint { color: light-dark(#333, #333) }
.clipped { overflow: hidden; white-space: nowrap }
.close a { display: inline-block; width: 30px; height: 30px }
.late { display: none }
@media (max-width: 50rem) { .close a { width: 10px; height: 10px } .late { display: block } }
</style><div class="top"></div><main><h1>t</h1>
${Array.from({ length: 30 }, (_, at) => `<article id="a${at}"><h2>Operation ${at}</h2><p>What it <a href="#a${at}">does</a></p></article>`).join("\n")}
${last}</main></html>`;

/** Faults of every kind, each beside the views that tell it: those whose layout or colours have it, or the first that shows it. */
const PLANTED: ReadonlyArray<readonly [html: string, told: string, views: ReadonlyArray<string>]> =
  [
    [`<img src="data:,">`, "image-alt", ["desktop, light", "phone, light"]],
    [`<p id="a29">again</p>`, "duplicate-id", ["desktop, light", "phone, light"]],
    [
      `<p class="faint">faint words</p><b class="faint" style="opacity:.9">other words</b>
       <input class="faint" aria-label="field" value="typed words">`,
      "color-contrast: Elements must meet minimum color contrast ratio thresholds: 3 times",
      ["desktop, dark"],
    ],
    [`<p class="clipped">${"word ".repeat(12)}</p>`, "cut: P", ["phone, light", "phone, dark"]],
    [
      `<nav class="close"><a href="#a1">i</a><a href="#a2">i</a></nav>`,
      "target-size",
      ["phone, light"],
    ],
    [`<input class="late">`, "label", ["phone, light"]],
  ];

test("in a page of many like parts a planted fault of each kind is told, and nothing without one", async () => {
  const { page, close } = await openPage(browser, "");
  await page.setContent(pageWith(""));
  expect(await faultsByView(page, "page")).toEqual({});

  await page.setContent(pageWith(PLANTED.map(([html]) => html).join("\n")));
  const told = await faultsByView(page, "page");
  const kindOf = (fault: string): string =>
    PLANTED.find(([, kind]) => fault.includes(kind))?.[1] ?? fault;
  for (const { name } of VIEWS) {
    const kinds = PLANTED.filter(([, , views]) => views.includes(name)).map(([, kind]) => kind);
    const faults = told[`page (${name})`] ?? [];
    expect([name, ...faults.map(kindOf).toSorted()]).toEqual([name, ...kinds.toSorted()]);
  }
  await close();
});
