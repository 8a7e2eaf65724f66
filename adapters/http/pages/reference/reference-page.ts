import type { Reference } from "../../openapi/reference.ts";
import { Html } from "../shell/html.ts";
import type { Page } from "../shell/shell.ts";
import { markedHtml } from "../static-page.ts";
import { operationHtml, targetHtml } from "./operation-html.ts";
import { recordHtml } from "./schema-html.ts";

type Subject = Reference["subjects"][number];

const idOf = (name: string): string => `subject-${name.toLowerCase().replaceAll(" ", "-")}`;

const contents = (id: string, name: string, links: ReadonlyArray<readonly [string, string]>) =>
  `<p><a href="#${id}">${name}</a></p>
<ul>${links.map(([target, text]) => `<li><a href="#${target}">${text}</a></li>`).join("\n")}</ul>`;

const subjectHtml = ({ name, description, operations }: Subject, { records }: Reference) =>
  `<section id="${idOf(name)}">
<h2>${name}</h2>
<p>${markedHtml(description)}</p>
<ul class="operations">${operations
    .map(
      (operation) =>
        `<li><a href="#${operation.operationId}">${targetHtml(operation)}</a> <span>${markedHtml(operation.summary)}</span></li>`,
    )
    .join("\n")}</ul>
${operations.map((operation) => operationHtml(operation, records)).join("\n")}
</section>`;

/** The page at `/docs`: every operation and record of the OpenAPI document. */
export const referencePage = (reference: Reference): Page => {
  const { title, version, description, subjects, headers, records } = reference;
  return {
    title: `API reference — ${title}`,
    styles: ["reference.css"],
    // The document is this program's own text, and `markedHtml` has escaped it.
    body: new Html(`<div class="layout">
<nav class="contents" aria-label="Contents">
${subjects
  .map(({ name, operations }) =>
    contents(
      idOf(name),
      name,
      operations.map(({ operationId, summary }) => [operationId, markedHtml(summary)]),
    ),
  )
  .join("\n")}
<p><a href="#headers">Headers</a></p>
${contents(
  "records",
  "Records",
  Object.keys(records).map((name) => [`schema-${name}`, name]),
)}
</nav>
<div class="reference">
<h1>${title}</h1>
<p>${version}: as <a href="/openapi.json">OpenAPI</a> and as <a href="/docs.md">Markdown</a></p>
${description
  .split("\n\n")
  .map((paragraph) => `<p>${markedHtml(paragraph)}</p>`)
  .join("\n")}
${subjects.map((subject) => subjectHtml(subject, reference)).join("\n")}
<section id="headers">
<h2>Headers</h2>
<p>Of many answers; an operation names those of its own.</p>
<dl>${Object.entries(headers)
      .map(
        ([name, header]) =>
          `<div><dt><code>${name}</code></dt><dd>${markedHtml(header.description)}</dd></div>`,
      )
      .join("\n")}</dl>
</section>
<section id="records">
<h2>Records</h2>
<p>The named shapes of bodies and answers.</p>
${Object.entries(records)
  .map(([name, schema]) => recordHtml(name, schema, records))
  .join("\n")}
</section>
</div>
</div>`),
  };
};
