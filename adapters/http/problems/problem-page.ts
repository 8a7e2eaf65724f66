import { markedHtml } from "../pages/html-text.ts";
import { baseStyle, type StaticPage, staticPage } from "../pages/static-page.ts";
import { PROBLEM_CATALOGUE, type ProblemCode } from "./problem-catalogue.ts";

const STYLE = `
main { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
dt { font-weight: 600; margin-top: 1rem; }
dd { margin: 0; }
`;

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
    style: baseStyle() + STYLE,
    script: "",
    body: `<main>
<h1>${markedHtml(title)}</h1>
<p>${markedHtml(explanation)}</p>
<h2>What to do</h2>
<p>${markedHtml(cure)}</p>
<dl><dt>Code</dt><dd><code>${code}</code></dd><dt>HTTP status</dt><dd>${status}</dd></dl>
<p><a href="/docs">API reference</a></p>
</main>`,
  });
};
