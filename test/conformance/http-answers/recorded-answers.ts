import { sectionsOf } from "./answer-text.ts";

/** One recorded exchange, read back from its file. */
export type RecordedAnswer = {
  /** The `operationId`, or `unmatched`. */
  readonly operation: string;
  readonly title: string;
  readonly method: string;
  /** Without query. */
  readonly path: string;
  readonly status: number;
  /** A problem's code, otherwise status and media type, such as `200 application/json` or `304`. */
  readonly kind: string;
  /** The lines of the answer: head and body. */
  readonly answer: string;
};

/** The code of a problem; undefined where the answer has no body. */
const codeIn = (answer: string): string | undefined => {
  const blank = answer.indexOf("\n\n");
  if (blank < 0) return undefined;
  return (JSON.parse(answer.slice(blank)) as { readonly code: string }).code;
};

const answerOf = (operation: string, title: string, section: string): RecordedAnswer => {
  const [, method = "", path = ""] = /^> (\S+) ([^\s?]+)/m.exec(section) ?? [];
  const answer = section.slice(section.search(/^< \d/m));
  const status = answer.slice(2, 5);
  const type = /^< content-type: ([^;\n]+)/m.exec(answer)?.[1];
  const success = type === undefined ? status : `${status} ${type}`;
  const kind = type === "application/problem+json" ? (codeIn(answer) ?? success) : success;
  return { operation, title, method, path, status: Number(status), kind, answer };
};

/** Every exchange in a set of recorded files. */
export const recordedAnswers = (
  files: ReadonlyMap<string, string>,
): ReadonlyArray<RecordedAnswer> =>
  [...files].flatMap(([name, text]) => {
    const operation = /^(\w+)\.txt$/.exec(name)?.[1];
    if (operation === undefined) return [];
    return Array.from(sectionsOf(text), ([title, section]) => answerOf(operation, title, section));
  });
