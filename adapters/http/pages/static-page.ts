import { Type } from "@sinclair/typebox";
import { createHash } from "node:crypto";
import type { Content } from "../server/endpoint.ts";
import { escapeHtml } from "./shell/escape.ts";

/** A page that loads nothing from other addresses, with headers that enforce that. */
export type StaticPage = {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** An HTML body as the OpenAPI document shows it. */
export const htmlContent = (example: string): { readonly "text/html": Content } => ({
  "text/html": { schema: Type.String(), example: () => example },
});

/** A Markdown body as the OpenAPI document shows it. */
export const markdownContent = (example: string): { readonly "text/markdown": Content } => ({
  "text/markdown": { schema: Type.String(), example: () => example },
});

const hashOf = (text: string): string =>
  `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/**
 * A page to print or to save: its style stands inside, and a Content-Security-Policy allows exactly that by its hash (CSP
 * Level 3, section 2.3.1). It runs nothing and loads nothing.
 */
export const staticPage = (parts: {
  readonly title: string;
  readonly body: string;
  readonly style: string;
}): StaticPage => ({
  html: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${parts.title}</title>
<link rel="icon" href="data:,">
<style>${parts.style}</style>
</head>
<body>
${parts.body}
</body>
</html>
`,
  headers: {
    "content-security-policy": [
      "default-src 'none'",
      `style-src ${hashOf(parts.style)}`,
      "img-src data:",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join("; "),
  },
});

/**
 * The policy of a page among its headers, for its 304. A browser takes a 304's headers in place of those it kept (RFC
 * 9111, 3.2): under the policy of other answers the kept page would lose its style and its script.
 */
export const policyIn = (
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> => {
  const policy = headers["content-security-policy"];
  return policy === undefined ? {} : { "content-security-policy": policy };
};

/** A text of the documentation as HTML, with text between backquotes as code. */
export const markedHtml = (text: string): string =>
  escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");
