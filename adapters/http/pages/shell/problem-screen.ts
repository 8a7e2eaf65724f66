import { PROBLEM_CATALOGUE, type ProblemCode } from "../../problems/problem-catalogue.ts";
import { html, type Html, markedText, sentence } from "./html.ts";
import { notice } from "./parts.ts";
import { type Page, searchBox } from "./shell.ts";

/** One occurrence of a problem as a page shows it. */
export type ShownProblem = {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly status: number;
  readonly requestId: string | null;
  readonly cure?: string | undefined;
  readonly errors?:
    | ReadonlyArray<{ readonly pointer?: string; readonly detail: string }>
    | undefined;
};

type Fault = NonNullable<ShownProblem["errors"]>[number];

/** A place of what was sent, and what it must be. */
const faultText = ({ pointer = "", detail }: Fault): Html =>
  html`<code>${pointer}</code> ${sentence(detail)}`;

/** What an occurrence says beside its title, empty where that says all. */
const detailOf = ({ code, detail }: ShownProblem): string =>
  detail === `${PROBLEM_CATALOGUE[code].title}.` ? "" : detail;

/** A problem in two sentences, inside a page that shows the rest. Named faults say what to do better than the usual cure. */
export const problemNotice = (problem: ShownProblem): Html => {
  const { code, cure, errors = [] } = problem;
  return notice(
    "warn",
    html`${PROBLEM_CATALOGUE[code].title}. ${sentence(detailOf(problem))}
      ${
        errors.length > 0
          ? errors.map((fault) => html`${faultText(fault)}. `)
          : markedText(cure ?? PROBLEM_CATALOGUE[code].cure)
      } <a href="/problems/${code}">More</a>`,
  );
};

/** A problem as the page that a browser gets in place of what it asked for. */
export const problemPage = (problem: ShownProblem): Page => {
  const { code, status, requestId, cure, errors = [] } = problem;
  const detail = detailOf(problem);
  const { title, explanation, cure: usual } = PROBLEM_CATALOGUE[code];
  return {
    title: `${title} (${code})`,
    status,
    kind: "reading",
    body: html`<h1>${title}</h1>
      ${detail !== "" && html`<p class="lead">${sentence(detail)}</p>`}
      ${
        errors.length > 0 &&
        html`<p>The <code>errors</code>:</p>
          <ul>
            ${errors.map((fault) => html`<li>${faultText(fault)}</li>`)}
          </ul>`
      }
      <h2>What to do</h2>
      <p>${markedText(cure ?? usual)}</p>
      <p>${markedText(explanation)}</p>
      ${searchBox("", true)}
      <p class="note">
        Status ${status}, code <a href="/problems/${code}"><code>${code}</code></a
        >${requestId !== null && html`, request <code>${requestId}</code>`}
      </p>`,
  };
};

/** The page that explains a code, as `/problems/{code}` shows it. */
export const problemExplained = (code: ProblemCode): Page => {
  const { status, title, explanation, cure } = PROBLEM_CATALOGUE[code];
  return {
    title: `${title} (${code})`,
    kind: "reading",
    body: html`<h1>${markedText(title)}</h1>
      <p class="lead">${markedText(explanation)}</p>
      <h2>What to do</h2>
      <p>${markedText(cure)}</p>
      <dl class="facts">
        <div>
          <dt>Code</dt>
          <dd><code>${code}</code></dd>
        </div>
        <div>
          <dt>HTTP status</dt>
          <dd>${status}</dd>
        </div>
      </dl>
      <p><a href="/docs">API reference</a></p>`,
  };
};
