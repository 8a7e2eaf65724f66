import { foreignJson } from "../../../../core/domain/encoding/foreign-text.ts";
import { formatUnits } from "../../../../core/domain/amount.ts";
import { listedMint, type SupportedMint } from "../../../../core/domain/supported-mint.ts";
import { escapeHtml } from "./escape.ts";
import { html, Html, type Inner } from "./html.ts";

/** What a colour says; each also has an icon and a word beside it. */
export type Tone = "good" | "bad" | "warn" | "wait" | "plain";

const ICONS: Readonly<Record<Tone, string>> = {
  good: "✓",
  bad: "✗",
  warn: "!",
  wait: "…",
  plain: "·",
};

/** A state as a colour, an icon and a word. */
export const pill = (tone: Tone, word: string): Html =>
  html`<span class="pill ${tone}"><span aria-hidden="true">${ICONS[tone]}</span> ${word}</span>`;

const TONE_OF_STATE: Readonly<Record<string, Tone>> = {
  Pending: "wait",
  Fulfilled: "good",
  PartiallyFulfilled: "good",
  Refunded: "warn",
  Refundable: "bad",
};

/** The words that people read for an escrow's states. */
const WORD_OF_STATE: Readonly<Record<string, string>> = {
  PartiallyFulfilled: "Partly fulfilled",
  Refundable: "Ended, refundable",
};

/** An escrow's state as a pill; one that has ended and can be refunded says so. */
export const statePill = (escrowState: string, isRefundable = false): Html => {
  const state = isRefundable ? "Refundable" : escrowState;
  return pill(TONE_OF_STATE[state] ?? "plain", WORD_OF_STATE[state] ?? state);
};

/** How amounts of one mint are shown. */
export type AmountOf = (units: string, mint: string) => Html;

/** Amounts as money of a listed mint, `1.500000 USDC`, and in base units of any other, because anybody can make a mint. */
export const amountsIn =
  (mints: ReadonlyArray<SupportedMint>): AmountOf =>
  (units, mint) => {
    const listed = listedMint(mints, mint);
    return listed === undefined
      ? html`<span class="money">${units}</span> base units of a token that is not listed`
      : html`<span class="money"
          >${formatUnits(BigInt(units), listed.decimals)} ${listed.symbol}</span
        >`;
  };

/** A long key in its first and last characters, with the whole one in its title. */
export const key = (whole: string, link: string | null = null): Html => {
  const short = whole.length > 14 ? `${whole.slice(0, 6)}…${whole.slice(-4)}` : whole;
  const text = html`<code class="key" title="${whole}">${short}</code>`;
  return link === null ? text : html`<a href="${link}">${text}</a>`;
};

/** A whole key that a button copies. */
export const wholeKey = (whole: string, link: string | null = null): Html => {
  const text = html`<code>${whole}</code>`;
  const shown = link === null ? text : html`<a href="${link}">${text}</a>`;
  return html`<span class="whole"
    >${shown} <button type="button" class="copy" data-copy="${whole}" hidden>Copy</button></span
  >`;
};

/** `2026-09-01T12:01:35Z` as people read it; `none` for null. */
export const time = (at: string | null): Html =>
  at === null
    ? html`<span class="none">none</span>`
    : html`<time datetime="${at}">${at.replace("T", " ").replace(/(\.\d+)?Z$/, " UTC")}</time>`;

const UNITS = [
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
  ["second", 1],
] as const;

/** A duration in its two largest units: `2 hours 5 minutes`. */
export const durationText = (seconds: number): string => {
  let rest = Math.max(0, Math.floor(seconds));
  const words: Array<string> = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${name}${count === 1 ? "" : "s"}`);
  }
  return words.length === 0 ? "0 seconds" : words.slice(0, 2).join(" ");
};

/** Seconds from one time to another. */
export const secondsBetween = (from: string, to: string): number =>
  Math.floor((Date.parse(to) - Date.parse(from)) / 1000);

/**
 * What is left until a time, by the ledger's clock as it stood when the page was made. The page's script counts it down;
 * without script it stands as it was.
 */
export const countdown = (ledgerTime: string, end: string): Html => {
  const left = secondsBetween(ledgerTime, end);
  return html`<span class="countdown" role="timer" data-left="${left}"
    >${left > 0 ? durationText(left) : "over"}</span
  >`;
};

/** One line of a list of facts. */
export type Fact = readonly [label: string, value: Inner];

/** Facts with their labels. Lines whose value is null are left out. */
export const facts = (lines: ReadonlyArray<Fact | null>): Html =>
  html`<dl class="facts">
    ${lines.map(
      (line) =>
        line !== null &&
        line[1] !== null &&
        html`<div>
          <dt>${line[0]}</dt>
          <dd>${line[1]}</dd>
        </div>`,
    )}
  </dl>`;

/** A table with its caption, or a sentence where it has no rows. */
export const table = (shown: {
  readonly caption: string;
  readonly head: ReadonlyArray<string>;
  readonly rows: ReadonlyArray<ReadonlyArray<Inner>>;
  readonly empty: string;
}): Html =>
  shown.rows.length === 0
    ? html`<p class="empty">${shown.empty}</p>`
    : html`<div class="wide" role="region" aria-label="${shown.caption}" tabindex="0">
        <table>
          <caption>
            ${shown.caption}
          </caption>
          <thead>
            <tr>
              ${shown.head.map((name) => html`<th scope="col">${name}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${shown.rows.map(
              (cells) =>
                html`<tr>
                  ${cells.map((cell) => html`<td>${cell}</td>`)}
                </tr>`,
            )}
          </tbody>
        </table>
      </div>`;

/** A sentence that must not be missed. */
export const notice = (tone: Tone, text: Inner): Html =>
  html`<p class="notice ${tone}">
    <span aria-hidden="true">${ICONS[tone]}</span> <span>${text}</span>
  </p>`;

/** One step of a life: what happened, when, how long after the one before, and where on the ledger. */
export type Step = {
  readonly name: string;
  readonly at: string | null;
  readonly note?: Inner;
  readonly tone: Tone;
};

/** A life in its steps, with the time between them. */
export const timeline = (steps: ReadonlyArray<Step>): Html => {
  const gap = (at: number): Html | false => {
    const [from, to] = [steps[at - 1]?.at, steps[at]?.at];
    if (from === undefined || from === null || to === undefined || to === null) return false;
    return html`<span class="gap">${durationText(secondsBetween(from, to))} later</span>`;
  };
  return html`<ol class="timeline">
    ${steps.map(
      ({ name, at, note, tone }, index) =>
        html`<li class="${tone}">
          <span class="mark" aria-hidden="true">${ICONS[tone]}</span>
          <div>
            <strong>${name}</strong> ${at === null ? "" : time(at)} ${gap(index)}
            <div class="note">${note}</div>
          </div>
        </li>`,
    )}
  </ol>`;
};

/** Parts of a page of which one is open at a time; without script all of them can be opened. */
export const tabs = (
  group: string,
  parts: ReadonlyArray<{ readonly name: string; readonly body: Inner; readonly isOpen?: boolean }>,
): Html =>
  html`<div class="tabs">
    ${parts.map(
      ({ name, body, isOpen = false }) =>
        html`<details name="${group}" ${isOpen && html` open`}>
          <summary>${name}</summary>
          <div>${body}</div>
        </details>`,
    )}
  </div>`;

/** Text as it is sent or typed, with a button that copies it. */
export const codeBlock = (label: string, text: string): Html =>
  html`<div class="code">
    <p>
      <span>${label}</span> <button type="button" class="copy" data-copy-next hidden>Copy</button>
    </p>
    <pre tabindex="0" aria-label="${label}">${new Html(escapeHtml(text))}</pre>
  </div>`;

/** A value as indented JSON. */
export const json = (label: string, value: unknown): Html =>
  codeBlock(label, foreignJson(value, 2));

/** A text inside single quotes of a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The command that reads what a part of the page shows, by a POST where there is a body. */
export const curl = (origin: string, path: string, body?: object): Html => {
  const sent =
    body === undefined
      ? ""
      : `-H 'content-type: application/json' -d ${quoted(JSON.stringify(body))} `;
  return codeBlock("The same from a terminal", `curl -s ${sent}${quoted(origin + path)}`);
};

/**
 * A part that the page's script fetches again when the stream that the page follows has news. A reader who points at it
 * or has the focus in it is not disturbed.
 */
export const live = (id: string, body: Inner): Html =>
  html`<div id="${id}" data-live>${body}</div>`;
