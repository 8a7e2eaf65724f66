import type { Recorded } from "./record-exchange.ts";

/** Longer request bodies are cut to their first 200 characters. */
const LONGEST_BODY = 2000;

/** Control characters other than tab and line feed: a text file does not show them. */
const UNSEEN = /(?![\t\n])\p{Cc}/u;

const NO_NEWLINE = "\n\\ no line feed at the end";

/** Text as lines of the file, with a note where it does not end with a line feed. */
const lines = (text: string): string =>
  text === "" ? "" : text.endsWith("\n") ? text.slice(0, -1) : `${text}${NO_NEWLINE}`;

const requestBody = (body: string | Uint8Array): string => {
  if (typeof body !== "string") return `(the bytes ${Buffer.from(body).toString("hex")})`;
  const shown = UNSEEN.test(body) ? JSON.stringify(body) : body;
  return shown.length <= LONGEST_BODY
    ? shown
    : `${shown.slice(0, 200)}… (${body.length} characters)`;
};

const isJson = (headers: Recorded["headers"]): boolean =>
  headers.some(
    ([name, value]) => name === "content-type" && /^application\/(?:\w+\+)?json$/.test(value),
  );

/** A body as the file shows it: compact JSON with one member a line, anything else unchanged. */
export const bodyText = (body: string, headers: Recorded["headers"]): string => {
  if (!isJson(headers) || body === "") return lines(body);
  const value: unknown = JSON.parse(body);
  if (JSON.stringify(value) !== body) return `(JSON that is not compact)\n${lines(body)}`;
  return JSON.stringify(value, null, 2);
};

const prefixed = (mark: string, rows: ReadonlyArray<string>): string =>
  rows.map((row) => `${mark} ${row}`.trimEnd()).join("\n");

/** One exchange as a section of its operation's file: the request, the answer's head, the answer's body. */
export const sectionText = (recorded: Recorded): string => {
  const { exchange, path, requestHeaders, status, headers, body } = recorded;
  const { method, title, masks = [], outline, bodyFile } = exchange;
  const request = [
    `${method} ${path}`,
    ...Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}`),
    ...(exchange.body === undefined ? [] : ["", ...requestBody(exchange.body).split("\n")]),
  ];
  const answer = [String(status), ...headers.map(([name, value]) => `${name}: ${value}`)];
  const shown =
    bodyFile !== undefined
      ? `(in ${bodyFile})`
      : outline === undefined
        ? bodyText(body, headers)
        : outline(body);
  const section = `${prefixed(">", request)}\n\n${prefixed("<", answer)}\n${shown === "" ? "" : `\n${shown}\n`}`;
  const text = masks.reduce(
    (masked, [pattern, instead]) => masked.replaceAll(pattern, instead),
    section,
  );
  if (UNSEEN.test(text)) throw new Error(`${title}: a control character cannot be recorded`);
  if (/^### /m.test(text)) throw new Error(`${title}: a line looks like the head of a section`);
  return `### ${title}\n\n${text}`;
};

/** The sections of a recorded file, by their titles. */
export const sectionsOf = (file: string): ReadonlyMap<string, string> =>
  new Map(
    file
      .split(/^(?=### )/m)
      .filter((section) => section.startsWith("### "))
      .map((section) => [section.slice(4, section.indexOf("\n")), section.trimEnd()]),
  );
