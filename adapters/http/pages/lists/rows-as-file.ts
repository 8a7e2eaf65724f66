import { Download } from "../shell/screen.ts";

type Row = Readonly<Record<string, unknown>>;

/** What a spreadsheet takes for a formula begins with one of these; an apostrophe before it keeps it a text. */
const FORMULA = /^[=+\-@\t\r]/;

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

/** Rows as CSV (RFC 4180), a line of names first. Members that hold lists of actions are left out. */
const csv = (rows: ReadonlyArray<Row>, names: ReadonlyArray<string>): string =>
  [names.join(","), ...rows.map((row) => names.map((name) => cell(row[name])).join(","))]
    .map((line) => `${line}\r\n`)
    .join("");

/** The rows that a reader sees, as a file in the form that the address asks for; null where it asks for the page. */
export const rowsAsFile = (
  format: unknown,
  name: string,
  rows: ReadonlyArray<Row>,
): Download | null => {
  if (format === "csv") {
    const names = Object.keys(rows[0] ?? {}).filter((each) => each !== "next_actions");
    return new Download("text/csv", `${name}.csv`, csv(rows, names));
  }
  if (format === "jsonl")
    return new Download(
      "application/jsonl",
      `${name}.jsonl`,
      rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
    );
  return null;
};
