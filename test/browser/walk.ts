import { join } from "node:path";
import axe, { type ElementContext, type Result, type RunOptions } from "axe-core";
import type { Browser, BrowserContextOptions, JSHandle, Page } from "playwright-core";

/** A folder for a picture of each page, empty for none. */
const PICTURES = process.env["PAGE_PICTURES"] ?? "";

export const DESKTOP = { width: 1280, height: 900 };
export const PHONE = { width: 375, height: 812 };

type View = {
  readonly name: string;
  readonly size: { readonly width: number; readonly height: number };
  readonly colorScheme: "light" | "dark";
};

/** How each page is looked at. A browser that shows 1280 pixels at 200 % lays a page out in 640. */
export const VIEWS: ReadonlyArray<View> = [
  { name: "desktop, light", size: DESKTOP, colorScheme: "light" },
  { name: "desktop, dark", size: DESKTOP, colorScheme: "dark" },
  { name: "phone, light", size: PHONE, colorScheme: "light" },
  { name: "phone, dark", size: PHONE, colorScheme: "dark" },
  { name: "desktop at 200 %", size: { width: 640, height: 450 }, colorScheme: "light" },
];

/** What axe judged of a page as it stands: what was visible, how wide the window was, and the looks of its texts. Held in the page. */
type Judged = {
  readonly shown: Set<string>;
  readonly looks: Map<string, number>;
  readonly texts: Set<number>;
};
const nothingJudged = (page: Page): Promise<JSHandle<Judged>> =>
  page.evaluateHandle(() => ({ shown: new Set(), looks: new Map(), texts: new Set() }));

/** What shows a text that is no node of the page. */
const FIELDS = "input, select, textarea";

/** axe's rules of a page's layout and of its colours. What the others find depends on what is visible alone. */
const RULES = {
  layout: ["scrollable-region-focusable"],
  /** Asked on a phone alone: links stand nearest there, a thumb is not a mouse, and this rule takes the longest. */
  touch: ["target-size"],
  colours: ["color-contrast", "link-in-text-block"],
  /** What axe leaves out unless it is asked. */
  asked: ["duplicate-id"],
};

/**
 * What axe finds in the page that it did not judge before. A rule is asked again where what it reads differs: in another
 * window the layout, and of texts one of each look, which is the style of an element and of all it stands in. The
 * reference has 13,000 elements and some hundred looks.
 */
export const violationsIn = async (
  page: Page,
  judged?: JSHandle<Judged>,
): Promise<ReadonlyArray<string>> => {
  // Scripts that the page may not run are run by the browser's own protocol.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const violations = await page.evaluate(
    async ({ before, rules, fields }) => {
      const runner = (window as unknown as { axe: typeof axe }).axe;
      const looks = new Map<Element, number>();
      const lookOf = (element: Element): number => {
        const { parentElement: parent } = element;
        const own = getComputedStyle(element);
        const style = [
          parent === null ? 0 : (looks.get(parent) ?? lookOf(parent)),
          own.color,
          own.backgroundColor,
          own.backgroundImage,
          own.opacity,
          own.fontSize,
          own.fontWeight,
          own.textDecorationLine,
          own.textShadow,
        ].join(" ");
        const look = before.looks.get(style) ?? before.looks.size + 1;
        before.looks.set(style, look);
        looks.set(element, look);
        return look;
      };
      const isText = ({ nodeType, nodeValue }: Node) =>
        nodeType === Node.TEXT_NODE && nodeValue?.trim() !== "";
      const elements = [...document.querySelectorAll("*")];
      const visible = new Set(elements.filter((element) => element.checkVisibility()));
      const unlike = [...visible].filter((element) => {
        if (!element.matches(fields) && ![...element.childNodes].some(isText)) return false;
        const look = lookOf(element);
        return !before.texts.has(look) && before.texts.add(look);
      });

      const isNew = (shown: string): boolean =>
        !before.shown.has(shown) && before.shown.add(shown).size > 0;
      const isShownNew = isNew(elements.map((element) => (visible.has(element) ? 1 : 0)).join(""));
      const isWidthNew = isNew(`${innerWidth} px`);
      const set = (names: ReadonlyArray<string>, enabled: boolean) =>
        Object.fromEntries(names.map((name) => [name, { enabled }]));
      const found: Array<Result> = [];
      const run = async (where: ElementContext, options: RunOptions) => {
        const { violations } = await runner.run(where, { resultTypes: ["violations"], ...options });
        found.push(...violations);
      };
      const touch = isWidthNew && innerWidth < 500 ? rules.touch : [];
      if (isShownNew)
        await run(document, {
          rules: { ...set(rules.colours, false), ...set([...rules.asked, ...touch], true) },
        });
      else if (isWidthNew) await run(document, { runOnly: [...rules.layout, ...touch] });
      if (unlike.length > 0) await run({ include: unlike }, { runOnly: rules.colours });
      return found;
    },
    { before: judged ?? (await nothingJudged(page)), rules: RULES, fields: FIELDS },
  );
  return violations.map(
    ({ id, help, nodes }) => `axe: ${id}: ${help}: ${nodes.length} times, first ${nodes[0]?.html}`,
  );
};

/** What does not fit: a page that is wider than its header, a page or a part that is wider than the window, text that is cut, a placeholder longer than its field. */
export const cutsIn = (page: Page): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    const cuts = scrollWidth > clientWidth ? [`scrolls sideways: ${scrollWidth} px`] : [];
    const [header, content] = [".top", "main"].map((part) =>
      document.querySelector(part)?.getBoundingClientRect(),
    );
    if (header && content && (content.left < header.left || content.right > header.right))
      cuts.push(`wider than its header: ${content.width} px, not ${header.width}`);
    for (const part of document.querySelectorAll<HTMLElement>("body *")) {
      if (!part.checkVisibility() || part.closest(".hidden, .skip, svg") !== null) continue;
      const { overflowX } = getComputedStyle(part);
      // Only of what is wrong: a page has thousands of parts, and the text of each is slow to read.
      const name = (): string => `${part.tagName} "${part.innerText.slice(0, 40)}"`;
      const isField = part instanceof HTMLInputElement;
      const isClipped = ["hidden", "clip"].includes(overflowX) && !isField;
      if (isClipped && part.scrollWidth > part.clientWidth + 1) cuts.push(`cut: ${name()}`);
      const isInScroller = part.closest(".wide, pre") !== null;
      if (!isInScroller && part.getBoundingClientRect().right > clientWidth + 1)
        cuts.push(`out of the window: ${name()}`);
      if (isField && part.placeholder !== "") {
        // As text of the field it keeps clear of what the browser puts beside it, such as a search's button.
        const { value, placeholder } = part;
        part.value = placeholder;
        if (part.scrollWidth > part.clientWidth) cuts.push(`cut placeholder: "${placeholder}"`);
        part.value = value;
      }
    }
    return cuts;
  });

/** What is wrong with the page in each view, by the view's name; none for a page without faults. `more` looks for further faults of what is seen. */
export const faultsByView = async (
  page: Page,
  name: string,
  more: () => Promise<ReadonlyArray<string>> = () => Promise.resolve([]),
): Promise<Readonly<Record<string, ReadonlyArray<string>>>> => {
  const all: Record<string, ReadonlyArray<string>> = {};
  const judged = await nothingJudged(page);
  for (const { name: view, size, colorScheme } of VIEWS) {
    await page.setViewportSize(size);
    await page.emulateMedia({ colorScheme });
    // Dark and light differ in colours alone.
    const others = colorScheme === "light" ? await more() : [];
    const faults = [...others, ...(await cutsIn(page)), ...(await violationsIn(page, judged))];
    if (faults.length > 0) all[`${name} (${view})`] = faults;
    if (PICTURES !== "")
      await page.screenshot({
        path: join(PICTURES, `${name} ${view}.png`.replaceAll(/[^\w.]+/g, "-")),
        fullPage: true,
        timeout: 120_000,
      });
  }
  return all;
};

/** A page of the browser, what it asks for, and what it does that no page of the service at `origin` may do. */
export const openPage = async (
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
) => {
  const context = await browser.newContext(options);
  // A machine under load is slow, and not wrong.
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const faults: Array<string> = [];
  const asked: Array<string> = [];
  page.on("console", (line) => {
    if (line.type() === "error" || line.type() === "warning")
      faults.push(`console: ${line.text()} ${line.location().url}`);
  });
  page.on("pageerror", ({ message }) => faults.push(`script: ${message}`));
  page.on("request", (request) => {
    const { protocol, origin: to } = new URL(request.url());
    asked.push(request.url());
    if (!["data:", "blob:", "file:"].includes(protocol) && to !== origin)
      faults.push(`asks ${request.url()}`);
  });
  return { page, faults, asked, close: () => context.close() };
};
