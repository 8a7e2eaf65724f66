import { type AssetName, assetPath } from "./assets.ts";
import { escapeHtml } from "./escape.ts";
import { html, Html, type Inner } from "./html.ts";

/** The pages that every page leads to. */
const NAVIGATION = [
  ["/escrows", "Escrows"],
  ["/merchants", "Merchants"],
  ["/log", "Log"],
  ["/verify", "Verify"],
  ["/prepare", "Prepare"],
  ["/docs", "Docs"],
] as const;

/** A page for people. */
export type Page = {
  readonly title: string;
  readonly body: Inner;
  /** The HTTP status; 200 by default. */
  readonly status?: number;
  /** The event stream whose news the page's live parts follow; none by default. */
  readonly follows?: string;
  /** Style sheets and scripts beside the shell's own. */
  readonly styles?: ReadonlyArray<AssetName>;
  readonly scripts?: ReadonlyArray<AssetName>;
  /** A class of the page's main part: `reading` for texts, in a narrower column. */
  readonly kind?: "reading";
};

/**
 * What a page may load: style and script of this service's own files, and nothing from elsewhere (CSP Level 3). No
 * script or style stands inside a page, so a text that escaped its place could still run nothing.
 */
export const PAGE_POLICY: Readonly<Record<string, string>> = {
  "content-security-policy": [
    "default-src 'none'",
    "style-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; "),
};

/** The one box that takes anything. `asked` is what stands in it. */
export const searchBox = (asked = "", isLarge = false): Html => {
  // A page may have a large one beside the one at its top.
  const id = isLarge ? "find-here" : "find-all";
  return html`<form
    class="search${isLarge && " large"}"
    action="/search"
    role="search"
    aria-label="${isLarge ? "On this page" : "Everywhere"}"
  >
    <label class="${isLarge ? "note" : "hidden"}" for="${id}"
      >Escrow, transaction, wallet, merchant, hash, digest or log position</label
    >
    <input
      id="${id}"
      name="q"
      type="search"
      required
      maxlength="200"
      autocomplete="off"
      spellcheck="false"
      value="${asked}"
      placeholder="Address, signature or name"
    />
    <button>Find</button>
    ${
      isLarge &&
      html`<p class="note" data-carries="/verify" hidden>
        Or drop a packet anywhere on this page: it is judged in this browser, and not uploaded.
      </p>`
    }
  </form>`;
};

/**
 * The text of a page: the shell around its body. `path` marks where the reader is; null for the operator's page, whose
 * listener has no other pages to lead to.
 */
export const pageText = (page: Page, path: string | null): string => {
  const links = NAVIGATION.map(([target, name]) => {
    const isHere = path === target || path?.startsWith(`${target}/`);
    return html`<a href="${target}" ${isHere && html` aria-current="page"`}>${name}</a>`;
  });
  return `<!doctype html>
${
  html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${new Html(escapeHtml(page.title))}</title>
<link rel="icon" href="/icon.svg">
<link rel="stylesheet" href="${assetPath("console.css")}">
${(page.styles ?? []).map((name) => html`<link rel="stylesheet" href="${assetPath(name)}" />`)}
${["console.js" as const, ...(page.scripts ?? [])].map((name) => html`<script type="module" src="${assetPath(name)}"></script>`)}
</head>
<body${page.follows !== undefined && html` data-follows="${page.follows}"`}>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<a class="name" href="/">Settlement Evidence</a>
${path !== null && html`<nav aria-label="Pages">${links}</nav>`}
${path !== null && path !== "/" && searchBox()}
</header>
<main id="main" tabindex="-1"${page.kind !== undefined && html` class="${page.kind}"`}>
${page.body}
</main>
${
  path !== null &&
  html`<footer>
    <p>
      A packet says what was claimed and what was paid. It cannot say that something was delivered.
      <a href="/v1/status">Status as JSON</a> · <a href="/openapi.json">OpenAPI</a>
    </p>
  </footer>`
}
</body>
</html>`.text
}
`;
};
