import { appendFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { runSeed, seededRandom } from "../arbitraries/seeded-random.ts";
import { serverPrograms, startCluster } from "../adapters/postgres/temporary-cluster.ts";
import { coveringTests, importersOf } from "./covering-tests.ts";
import { judge, type Verdict } from "./judge.ts";
import { type Mutant, mutantsOf } from "./mutants-of.ts";
import { filesOf, treeCopy } from "./tree-copy.ts";

const HELP = `Changes use cases and adapters in one place at a time and runs the tests that import the changed file. A change that
no test notices survives and is shown.

usage: bun run test:more mutants [options]

  --count N     how many mutants are tried                     (200)
  --seed S      the choice; without it, one is drawn and printed
  --from N      leaves out the first N of the choice, which an earlier run has tried
  --again FILE  tries what survived according to FILE, which --out wrote; the files must not have changed
  --only TEXT   only mutants whose file:line begins with TEXT, such as core/use-cases/log
  --tests N     the most test files that one mutant is shown to (10)
  --jobs N      mutants tried at a time, each in a copy of the tree (1)
  --minutes M   begins no further mutant after that time
  --out FILE    appends each verdict to FILE as a line of JSON
  --help        this text

Files of adapters/postgres are tried where PostgreSQL is installed. Ends with 1 when a mutant survived.
`;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const MUTATED = /^(core\/use-cases|adapters)\/.*\.ts$/;
const SOURCE = /^(core|ports|adapters|app|client|programs|test|tools)\/.*\.ts$/;
const ON_POSTGRES = "adapters/postgres/";
/** Writes every answer of the service, and the test that compares them with the recorded ones. */
const RECORDER = "test/conformance/http-answers/record.ts";
const RECORDED = "test/conformance/http-answers/http-answers.test.ts";

const fail = (message: string): never => {
  process.stderr.write(`test:more mutants: ${message}\n`);
  process.exit(64);
};
const { values } = (() => {
  try {
    return parseArgs({
      options: {
        count: { type: "string", default: "200" },
        seed: { type: "string" },
        from: { type: "string", default: "0" },
        again: { type: "string" },
        only: { type: "string", default: "" },
        tests: { type: "string", default: "10" },
        jobs: { type: "string", default: "1" },
        minutes: { type: "string", default: "1440" },
        out: { type: "string" },
        help: { type: "boolean", default: false },
      },
    });
  } catch (cause) {
    return fail(`${(cause as Error).message}; see --help`);
  }
})();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const whole = (name: string, text: string, least: number): number => {
  const number = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(number) && number >= least) return number;
  return fail(`--${name}: expected a whole number of at least ${least}`);
};
const count = whole("count", values.count, 1);
const from = whole("from", values.from, 0);
const most = whole("tests", values.tests, 1);
const jobs = whole("jobs", values.jobs, 1);
const minutes = whole("minutes", values.minutes, 1);
const seed = whole("seed", values.seed ?? `${runSeed()}`, 0);

const sources = new Map<string, string>();
for (const file of filesOf(ROOT))
  if (SOURCE.test(file) && (await Bun.file(`${ROOT}/${file}`).exists()))
    sources.set(file, await Bun.file(`${ROOT}/${file}`).text());
const importers = importersOf(sources);
const placeOf = ({ file, line }: Mutant): string => `${file}:${line}`;
const programs = serverPrograms();
const all = [...sources]
  .filter(([file]) => MUTATED.test(file))
  .filter(([file]) => programs !== undefined || !file.startsWith(ON_POSTGRES))
  .flatMap(([file, text]) => mutantsOf(file, text))
  .filter((mutant) => placeOf(mutant).startsWith(values.only));
if (all.length === 0) fail(`--only: no mutant stands at ${values.only}`);

/** The mutants that survived an earlier run. */
const survivorsIn = async (path: string): Promise<ReadonlyArray<Mutant>> => {
  const lines = (await Bun.file(path).text()).split("\n").filter((line) => line !== "");
  const survived = lines
    .map((line) => JSON.parse(line) as Mutant & Verdict)
    .filter(({ kind }) => kind === "survived");
  return all.filter((mutant) =>
    survived.some(
      ({ file, start, operator }) =>
        file === mutant.file && start === mutant.start && operator === mutant.operator,
    ),
  );
};

const random = seededRandom(seed);
const pool = [...all];
const choice = Array.from({ length: Math.min(count, all.length) }, () => {
  const [taken] = pool.splice(Math.floor(random() * pool.length), 1);
  if (taken === undefined) throw new Error("the pool holds as many as are taken");
  return taken;
});
const chosen = values.again === undefined ? choice.slice(from) : await survivorsIn(values.again);
process.stdout.write(`seed ${seed}: ${chosen.length} of ${all.length} mutants\n`);

const cluster =
  programs !== undefined && chosen.some(({ file }) => file.startsWith(ON_POSTGRES))
    ? await startCluster(programs)
    : undefined;
const env = cluster === undefined ? {} : { TEST_DATABASE_URL: cluster.url };
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stopping.abort());
const testsFor = (file: string): ReadonlyArray<string> => {
  const nearest = coveringTests(
    importers,
    file,
    (one) =>
      /^test\/.*\.test\.ts$/.test(one) ||
      (file.startsWith(ON_POSTGRES) && /^test\/.*\.postgres\.ts$/.test(one)),
    most,
  );
  // The recorder runs in a process that the test of its answers starts.
  const isRecorded = coveringTests(importers, file, (one) => one === RECORDER, 1).length > 0;
  return isRecorded ? [...nearest.filter((one) => one !== RECORDED), RECORDED] : nearest;
};

/** The lines around a change, before and after. */
const diffOf = (mutant: Mutant): string => {
  const text = sources.get(mutant.file) ?? "";
  const from = text.lastIndexOf("\n", mutant.start - 1) + 1;
  const end = text.indexOf("\n", mutant.end);
  const to = end === -1 ? text.length : end;
  const after = text.slice(from, mutant.start) + mutant.replacement + text.slice(mutant.end, to);
  const lines = (mark: string, part: string) =>
    part.split("\n").map((line) => `    ${mark} ${line}`);
  return [...lines("-", text.slice(from, to)), ...lines("+", after)].join("\n");
};

const verdicts = new Map<Mutant, Verdict>();
const deadlineMs = performance.now() + minutes * 60_000;
const queue = chosen.values();
const worker = async (): Promise<void> => {
  await using copy = await treeCopy(ROOT);
  const decide = judge(copy, { env, stop: stopping.signal });
  for (const mutant of queue) {
    if (performance.now() > deadlineMs || stopping.signal.aborted) return;
    const startedMs = performance.now();
    const text = sources.get(mutant.file) ?? "";
    const verdict = await decide(mutant, text, testsFor(mutant.file)).catch((cause: unknown) => {
      if (!stopping.signal.aborted) throw cause;
    });
    if (verdict === undefined) return;
    verdicts.set(mutant, verdict);
    const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
    process.stdout.write(
      `${String(verdicts.size).padStart(4)} ${verdict.kind.padEnd(9)} ${seconds.padStart(6)} s  ${placeOf(mutant)} ${mutant.operator}${verdict.kind === "killed" ? ` by ${verdict.by}` : ""}\n`,
    );
    if (values.out !== undefined)
      await appendFile(values.out, `${JSON.stringify({ ...mutant, ...verdict })}\n`);
  }
};
await Promise.all(Array.from({ length: jobs }, worker));
await cluster?.stop();

const of = (kind: Verdict["kind"]): ReadonlyArray<Mutant> =>
  [...verdicts].flatMap(([mutant, verdict]) => (verdict.kind === kind ? [mutant] : []));
for (const kind of ["survived", "unjudged"] as const)
  for (const mutant of of(kind))
    process.stdout.write(`\n${kind}: ${placeOf(mutant)} ${mutant.operator}\n${diffOf(mutant)}\n`);
const killed = of("killed").length + of("timed-out").length;
process.stdout.write(
  `\nseed ${seed}: ${verdicts.size} of ${chosen.length} mutants tried, ${killed} killed (${of("timed-out").length} by the clock), ${of("survived").length} survived, ${of("unjudged").length} not judged\n`,
);
process.exit(of("survived").length > 0 ? 1 : 0);
