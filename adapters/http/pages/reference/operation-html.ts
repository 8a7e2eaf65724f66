import { membersOf, type Operation, recordName, type Reference } from "../../openapi/reference.ts";
import { escapeHtml } from "../shell/escape.ts";
import { markedHtml } from "../static-page.ts";
import { inputsHtml, typeHtml } from "./schema-html.ts";

type Records = Reference["records"];
type Contents = Operation["answers"][number]["content"];

/** An example to unfold; none for a text that is empty, or that an ellipsis stands for. */
const exampleHtml = (example: unknown, summary: string): string => {
  const text = typeof example === "string" ? example : JSON.stringify(example, null, 2);
  return text === undefined || /(^|…)$/.test(text)
    ? ""
    : // Between tags a quotation mark needs no escape, and there are five thousand.
      `<details><summary>${summary}</summary><pre>${escapeHtml(text).replaceAll("&quot;", '"')}</pre></details>`;
};

/** A media type with its record, whose members stand with the records, and its example. */
const contentHtml = (contents: Contents): string =>
  Object.entries(contents)
    .map(([mediaType, { schema, example }]) => {
      const type = recordName(schema) === undefined ? "" : `: ${typeHtml(schema)}`;
      return `<p><code>${mediaType}</code>${type}</p>${exampleHtml(example, "Example")}`;
    })
    .join("\n");

const bodyHtml = ({ body }: Operation, records: Records): string =>
  body === null
    ? ""
    : `<h4>Body</h4>
<p>${markedHtml(body.description)}</p>
${Object.entries(body.content)
  .map(([mediaType, { schema, example }]) => {
    const record = records[recordName(schema) ?? ""];
    return `<p><code>${mediaType}</code>: ${typeHtml(schema)}</p>
${record === undefined ? "" : inputsHtml(membersOf(record, records))}
${exampleHtml(example, "Example of the body")}`;
  })
  .join("\n")}`;

const answersHtml = ({ answers }: Operation): string =>
  answers
    .map(({ status, description, headers, content }) => {
      const own = Object.entries(headers).map(
        ([name, meaning]) => `<p><code>${name}</code>: ${markedHtml(meaning)}</p>`,
      );
      return `<h5>${status}</h5>
<p>${markedHtml(description)}</p>
${contentHtml(content)}
${own.join("\n")}`;
    })
    .join("\n");

/** Problems by their statuses, each with the link to its page. */
export const problemsHtml = (problems: Operation["problems"]): string =>
  `<dl class="problems">${[...Map.groupBy(problems, ({ status }) => status)]
    .map(
      ([status, group]) =>
        `<div><dt>${status}</dt><dd>${group
          .map(({ code }) => `<a href="/problems/${code}"><code>${code}</code></a>`)
          .join(" ")}</dd></div>`,
    )
    .join("\n")}</dl>`;

/** A method and a path as HTML. */
const targetHtml = ({ method, path }: Operation): string =>
  `<b class="${method.toLowerCase()}">${method}</b> <code>${path.replaceAll("/", "<wbr>/")}</code>`;

/**
 * An operation with all that a caller needs: inputs, body, answers, its own problems and examples; members are found in
 * `records`.
 */
export const operationHtml = (
  operation: Operation,
  own: Operation["problems"],
  records: Records,
): string =>
  `<article id="${operation.operationId}">
<h3><a href="#${operation.operationId}">${markedHtml(operation.summary)}</a></h3>
<p class="target">${targetHtml(operation)} <span>${operation.operationId}</span></p>
<p>${markedHtml(operation.description)}</p>
${operation.parameters.length === 0 ? "" : `<h4>Parameters</h4>${inputsHtml(operation.parameters)}`}
${bodyHtml(operation, records)}
<h4>Answers</h4>
${answersHtml(operation)}
${own.length === 0 ? "" : `<h4>Problems</h4>\n${problemsHtml(own)}`}
</article>`;
