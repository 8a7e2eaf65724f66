import { escapeHtml } from "../pages/html-text.ts";
import { type StaticPage, staticPage } from "../pages/static-page.ts";
import { PROBLEM_CATALOGUE, type ProblemCode } from "./problem-catalogue.ts";

const STYLE = `
body { font: 1rem/1.6 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
code { font-family: ui-monospace, monospace; }
h1 { line-height: 1.25; }
dt { font-weight: 600; margin-top: 1rem; }
dd { margin: 0; }
`;

/** The catalogue's text as HTML, with text between backquotes as code. */
const marked = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>");

/** A problem's page in Markdown. */
export const problemMarkdown = (code: ProblemCode): string => {
  const { status, title, explanation, cure } = PROBLEM_CATALOGUE[code];
  return `# ${title}\n\n- code: \`${code}\`\n- status: ${status}\n\n${explanation}\n\n## What to do\n\n${cure}\n`;
};

/** The same as a page. */
export const problemHtml = (code: ProblemCode): StaticPage => {
  const { status, title, explanation, cure } = PROBLEM_CATALOGUE[code];
  return staticPage({
    title: `${title} (${code})`,
    style: STYLE,
    script: "",
    body: `<main>
<h1>${marked(title)}</h1>
<p>${marked(explanation)}</p>
<h2>What to do</h2>
<p>${marked(cure)}</p>
<dl><dt>Code</dt><dd><code>${code}</code></dd><dt>HTTP status</dt><dd>${status}</dd></dl>
<p><a href="/docs">API reference</a></p>
</main>`,
  });
};
