import { expect } from "bun:test";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { seededRandom } from "../../arbitraries/seeded-random.ts";

const PROGRAM = join(import.meta.dir, "shared-journal.mjs");
const TRUST = join(import.meta.dir, "../../vectors/evidence/trust.json");
const LIMIT = 10;
const PROCESSES = 4;
const PAYMENTS = 5;

/** A process that tries payments; `allowed` are those that it said it would sign. */
const startPayer = (
  cwd: string,
  runtime: ReadonlyArray<string>,
  ...args: ReadonlyArray<string>
) => {
  const [command = "", ...first] = runtime;
  const child = spawn(command, [...first, ...args], { cwd, stdio: ["pipe", "pipe", "inherit"] });
  let out = "";
  let killBehind = Number.POSITIVE_INFINITY;
  const ready = new Promise<void>((resolve) => {
    child.stdout.on("data", (part: Buffer) => {
      out += part.toString();
      if (out.includes("ready")) resolve();
      if (out.split("\n").length > killBehind) child.kill("SIGKILL");
    });
  });
  const ended = new Promise<ReadonlyArray<string>>((resolve) => {
    child.on("close", () => resolve(out.trim().split("\n").slice(1)));
  });
  return {
    ready,
    ended,
    /** Begins, and is killed once it has printed this number of lines. */
    begin: (killedBehind: number) => {
      killBehind = killedBehind;
      child.stdin.write("go\n");
    },
  };
};

/**
 * Lets processes share a journal and kills one at a moment of the seed: together they are allowed no more than the
 * day's limit, and the next process finds the journal in order. `program` is the path of shared-journal.mjs in `cwd`.
 */
export const tryJournal = async (
  cwd: string,
  runtime: ReadonlyArray<string>,
  program: string,
  journal: string,
  seed: number,
): Promise<void> => {
  const random = seededRandom(seed);
  const payers = Array.from({ length: PROCESSES }, (_, at) =>
    startPayer(cwd, runtime, program, TRUST, journal, `p${at}`, `${PAYMENTS}`),
  );
  await Promise.all(payers.map(({ ready }) => ready));
  payers.forEach(({ begin }, at) => {
    begin(at === 0 ? 1 + Math.floor(random() * PAYMENTS) : Number.POSITIVE_INFINITY);
  });
  const lines = (await Promise.all(payers.map(({ ended }) => ended))).flat();
  expect(lines.filter((line) => !/^(?:allowed|refused) p/.test(line))).toEqual([]);
  const allowed = lines.filter((line) => line.startsWith("allowed"));
  expect([seed, allowed.length <= LIMIT]).toEqual([seed, true]);
  // The killed process may have taken a place that it did not come to say.
  expect([seed, allowed.length >= LIMIT - 1]).toEqual([seed, true]);

  const text = await readFile(join(cwd, journal), "utf8");
  const last = startPayer(cwd, runtime, program, TRUST, journal, "last", "1");
  await last.ready;
  last.begin(Number.POSITIVE_INFINITY);
  expect((await last.ended)[0]).toMatch(/^(?:allowed|refused) last-0$/);
  expect((await readFile(join(cwd, journal), "utf8")).startsWith(text)).toBe(true);
};

/** The program that the processes run. */
export const JOURNAL_PROGRAM = PROGRAM;
