import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Recorded } from "./record-exchange.ts";

/** Longer request bodies are cut to their first 200 characters. */
const LONGEST_BODY = 2000;

/** Control characters other than tab and line feed: a text file does not show them. */
const UNSEEN = /(?![\t\n])\p{Cc}/u;

/** The widest line of printed JSON. */
const WIDTH = 120;

/** Sent with every request without an id of its own. Otherwise the service would make a random one. */
export const REQUEST_ID = "recorded";

/** The headers that most answers have. A section names only what its answer has otherwise, or has not. */
const USUAL_HEADERS: ReadonlyMap<string, string> = new Map([
  ["access-control-allow-origin", "*"],
  [
    "access-control-expose-headers",
    "allow, etag, ratelimit, ratelimit-policy, retry-after, x-request-id",
  ],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["cross-origin-resource-policy", "cross-origin"],
  ["referrer-policy", "no-referrer"],
  ["x-content-type-options", "nosniff"],
  ["x-request-id", REQUEST_ID],
]);

/** Files of the repository that answers repeat, by their compact JSON. */
const SERVED_FILES: ReadonlyMap<string, string> = new Map(
  ["programs/custody.idl.json", "programs/attestor.idl.json"].map((path) => {
    const text = readFileSync(join(import.meta.dir, "../../..", path), "utf8");
    return [JSON.stringify(JSON.parse(text)), path];
  }),
);

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

type Folding = {
  readonly width: number;
  /** Lists are cut behind this many members. */
  readonly mostMembers?: number;
  readonly shownText?: (text: string) => string;
};

/** A JSON value as people read it: what fits a line stays on it, other objects and lists have one member a line. */
export const foldedJson = (value: unknown, folding: Folding, indent = "", column = 0): string => {
  const { width, mostMembers, shownText = (text) => text } = folding;
  if (typeof value === "string") return JSON.stringify(shownText(value));
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  const shown = isList ? entries.slice(0, mostMembers) : entries;
  const inner = `${indent}  `;
  const members = shown.map(([name, member]) => {
    const label = isList ? "" : `${JSON.stringify(name)}: `;
    return label + foldedJson(member, folding, inner, inner.length + label.length);
  });
  if (shown.length < entries.length) members.push("…");
  const [open, close] = isList ? ["[", "]"] : ["{", "}"];
  const line = `${open}${members.join(", ")}${close}`;
  if (!line.includes("\n") && column + line.length <= width) return line;
  return `${open}\n${members.map((member) => inner + member).join(",\n")}\n${indent}${close}`;
};

/** A body as the file shows it: compact JSON in lines of 120 columns, anything else unchanged. */
export const bodyText = (body: string, headers: Recorded["headers"]): string => {
  if (!isJson(headers) || body === "") return lines(body);
  const value: unknown = JSON.parse(body);
  if (JSON.stringify(value) !== body) return `(JSON that is not compact)\n${lines(body)}`;
  return foldedJson(value, { width: WIDTH });
};

/** The answer's headers that are not the usual ones, and the names of the usual ones that it lacks. */
const headerLines = (headers: Recorded["headers"]): ReadonlyArray<string> => {
  const names = new Set(headers.map(([name]) => name));
  const lacking = [...USUAL_HEADERS.keys()].filter((name) => !names.has(name));
  return [
    ...headers.flatMap(([name, value]) =>
      USUAL_HEADERS.get(name) === value ? [] : [`${name}: ${value}`],
    ),
    ...(lacking.length === 0 ? [] : [`without ${lacking.join(", ")}`]),
  ];
};

/** The file of what every answer has whose section does not say otherwise. */
export const usualHeadersText = (): string =>
  Array.from(USUAL_HEADERS, ([name, value]) => `${name}: ${value}\n`).join("");

const prefixed = (mark: string, rows: ReadonlyArray<string>): string =>
  rows.map((row) => `${mark} ${row}`.trimEnd()).join("\n");

/** One exchange as a section of its operation's file: the request, the answer's head, the answer's body. */
export const sectionText = (recorded: Recorded): string => {
  const { exchange, path, requestHeaders, status, headers, body } = recorded;
  const { method, title, masks = [], outline, bodyFile } = exchange;
  const request = [
    `${method} ${path}`,
    ...Object.entries(requestHeaders).flatMap(([name, value]) =>
      name === "x-request-id" && value === REQUEST_ID ? [] : [`${name}: ${value}`],
    ),
    ...(exchange.body === undefined ? [] : ["", ...requestBody(exchange.body).split("\n")]),
  ];
  const answer = [String(status), ...headerLines(headers)];
  const file = bodyFile ?? SERVED_FILES.get(body);
  const shown =
    file !== undefined
      ? `(in ${file})`
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
