import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { PROBLEM_CODES } from "../../../adapters/http/problems/problem-catalogue.ts";
import { differences } from "./differences.ts";
import { PRIVATE_KEY } from "./exchanges/private-key.ts";
import { type PromisedAnswers, promisedAnswers } from "./promised-answers.ts";
import { readFiles, VECTORS } from "./vector-folder.ts";
import { tmpdir } from "../../temporary-root.ts";
import { sectionsOf } from "./answer-text.ts";

/** One recorded exchange, read back from its file. */
type RecordedAnswer = {
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
const recordedAnswers = (files: ReadonlyMap<string, string>): ReadonlyArray<RecordedAnswer> =>
  [...files].flatMap(([name, text]) => {
    const operation = /^(\w+)\.txt$/.exec(name)?.[1];
    if (operation === undefined) return [];
    return Array.from(sectionsOf(text), ([title, section]) => answerOf(operation, title, section));
  });

/** A recording takes eight seconds of CPU time, and many times as long on a busy machine. */
const PATIENCE_MS = 120_000;
/** More differences than these are not printed. */
const MOST_SHOWN = 10;
/**
 * The time zone and locale differ from those of `bun run test:more record-answers` in offset, decimal comma and the
 * upper case of i.
 */
const ELSEWHERE = { TZ: "Asia/Kathmandu", LC_ALL: "tr_TR.UTF-8", LANG: "tr_TR.UTF-8" };

const folder = await mkdtemp(join(tmpdir(), "http-answers-"));
afterAll(() => rm(folder, { recursive: true }));

const files = await readFiles(VECTORS);
const recorded = recordedAnswers(files);

test(
  "a process in another time zone and locale answers what is recorded, byte for byte",
  async () => {
    const { exited } = Bun.spawn([process.execPath, join(import.meta.dir, "record.ts"), folder], {
      env: { ...process.env, ...ELSEWHERE },
      stdio: ["ignore", "inherit", "inherit"],
    });
    expect(await exited).toBe(0);
    const found = differences(files, await readFiles(folder));
    if (found.length > 0)
      throw new Error(
        `${found.length} answers are not the recorded ones (bun run test:more record-answers):\n\n${found.slice(0, MOST_SHOWN).join("\n\n")}\n`,
      );
  },
  PATIENCE_MS,
);

describe("what the OpenAPI document promises", () => {
  let promised: ReadonlyArray<PromisedAnswers>;
  beforeAll(() => {
    promised = promisedAnswers(files.get("openapi.json") ?? "");
  });
  const answersOf = (operation: string) => recorded.filter((each) => each.operation === operation);

  test("every operation has a valid and an invalid exchange", () => {
    const has = (operation: string, isSo: (status: number) => boolean): boolean =>
      answersOf(operation).some(({ method, status }) => method !== "OPTIONS" && isSo(status));
    const operations = promised.map(({ operation }) => operation);
    expect(operations.length).toBeGreaterThan(0);
    expect(operations.filter((each) => !has(each, (status) => status < 300))).toEqual([]);
    expect(operations.filter((each) => !has(each, (status) => status >= 400))).toEqual([]);
  });

  test("every success, in each media type, and every problem of every operation is recorded", () => {
    const missing = promised.flatMap(({ operation, successes, problems }) => {
      const kinds = new Set(answersOf(operation).map(({ kind }) => kind));
      // A bug gives the same answer everywhere. It is recorded where a test can cause one in the stores.
      const wanted = [...successes, ...problems.filter((code) => code !== "internal_error")];
      return wanted.filter((each) => !kinds.has(each)).map((each) => `${operation}: ${each}`);
    });
    expect(missing).toEqual([]);
  });

  test("every problem of the catalogue is recorded", () => {
    const kinds = new Set(recorded.map(({ kind }) => kind));
    expect(PROBLEM_CODES.filter((code) => !kinds.has(code))).toEqual([]);
  });

  test("every exchange is recorded under the operation of its path", () => {
    const misplaced = recorded.filter(({ operation, path }) => {
      const own = promised.filter((each) => each.path.test(path));
      return operation === "unmatched"
        ? own.length > 0
        : own.every((each) => each.operation !== operation);
    });
    expect(misplaced.map(({ operation, title }) => `${operation}: ${title}`)).toEqual([]);
  });
});

test("no answer shows an internal cause or repeats a private key", () => {
  const inside = new RegExp(`NEVER-SHOWN|api-key|TypeError|\\.ts\\b|${PRIVATE_KEY}`);
  const told = recorded.filter(({ answer }) => inside.test(answer));
  expect(told.map(({ operation, title }) => `${operation}: ${title}`)).toEqual([]);
});
