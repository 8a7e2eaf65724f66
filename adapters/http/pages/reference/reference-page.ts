import type { Reference } from "../../openapi/reference.ts";
import { Html } from "../shell/html.ts";
import type { Page } from "../shell/shell.ts";
import { markedHtml } from "../static-page.ts";
import { operationHtml, problemsHtml } from "./operation-html.ts";
import { recordHtml } from "./schema-html.ts";

type Subject = Reference["subjects"][number];

const idOf = (name: string): string => `subject-${name.toLowerCase().replaceAll(" ", "-")}`;

const contents = (id: string, name: string, links: ReadonlyArray<readonly [string, string]>) =>
  `<p><a href="#${id}">${name}</a></p>
<ul>${links.map(([target, text]) => `<li><a href="#${target}">${text}</a></li>`).join("\n")}</ul>`;

/** The codes of the problems that every operation can answer with. */
const commonCodes = ({ subjects }: Reference): ReadonlySet<string> => {
  const codes = subjects.flatMap(({ operations }) =>
    operations.map(({ problems }) => new Set(problems.map(({ code }) => code))),
  );
  const [first, ...others] = codes;
  return others.reduce((common, each) => common.intersection(each), first ?? new Set<string>());
};

const subjectHtml = (
  { name, description, operations }: Subject,
  { records }: Reference,
  common: ReadonlySet<string>,
) =>
  `<section id="${idOf(name)}">
<h2>${name}</h2>
<p>${markedHtml(description)}</p>
${operations
  .map((operation) =>
    operationHtml(
      operation,
      operation.problems.filter(({ code }) => !common.has(code)),
      records,
    ),
  )
  .join("\n")}
</section>`;

/** The page at `/docs`: every operation and record of the OpenAPI document. */
export const referencePage = (reference: Reference): Page => {
  const { title, version, description, subjects, headers, records } = reference;
  const common = commonCodes(reference);
  const shared = subjects[0]?.operations[0]?.problems.filter(({ code }) => common.has(code)) ?? [];
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
<p><a href="#problems">Problems</a></p>
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
${subjects.map((subject) => subjectHtml(subject, reference, common)).join("\n")}
<section id="problems">
<h2>Problems</h2>
<p>Every operation can answer with these; each names those of its own.</p>
${problemsHtml(shared)}
</section>
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
