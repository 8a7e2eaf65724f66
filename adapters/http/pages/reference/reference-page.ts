import type { Reference } from "../../openapi/reference.ts";
import { baseStyle, markedHtml, readBeside, type StaticPage, staticPage } from "../static-page.ts";
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

/** The page at `/docs`: every operation and record of the OpenAPI document. It runs nothing. */
export const referencePage = (reference: Reference): StaticPage => {
  const { title, version, description, subjects, headers, records } = reference;
  return staticPage({
    title: `API reference — ${title}`,
    style: baseStyle() + readBeside(import.meta.url, "reference.css"),
    script: "",
    body: `<header>
<p class="name"><a href="/">${title}</a></p>
<p>${version}</p>
<nav aria-label="Other forms"><a href="/openapi.json">OpenAPI</a> <a href="/docs.md">Markdown</a></nav>
</header>
<div class="layout">
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
<main>
<h1>${title}</h1>
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
</main>
</div>`,
  });
};
