import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "../../../app/command-line/command-line.ts";
import { findEsbmc, prove } from "./esbmc.ts";
import { type Harness, HARNESSES, type Mutant, PROGRAMS } from "./harnesses.ts";

const HELP = `Proves the claims in harness/ about the programs' own headers, and then shows that each claim can fail: a copy of the
headers with one fault in it must be refuted. Skips without ESBMC and says how to install it.

usage: bun run test:more esbmc [--quick] [name...]

  --quick   tries one fault for each harness, and leaves out a proof of minutes
  --help    this text

A name is a harness's. Ends with 1 when a claim is not proved, or a fault not refuted.
`;

const { values, positionals: names } = readCommandLine(
  HELP,
  { quick: { type: "boolean", default: false } },
  ["[name...]"],
);
const { quick } = values;

const esbmc = await findEsbmc();
if (esbmc === undefined) {
  console.log(
    "test:more esbmc: skipped, nothing was proved. ESBMC is neither on the PATH nor named by ESBMC or ESBMC_VENV.\n" +
      "  python3 -m venv ~/.esbmc && ~/.esbmc/bin/pip install --require-hashes -r test/programs/esbmc/requirements.txt\n" +
      "  ESBMC_VENV=~/.esbmc bun run test:more esbmc",
  );
  process.exit(0);
}

const chosen = HARNESSES.filter(({ name }) => names.length === 0 || names.includes(name));
const work = await mkdtemp(join(tmpdir(), "esbmc-"));
process.on("exit", () => void Bun.spawnSync(["rm", "-rf", work]));

/**
 * A copy of the programs with one fault in it; its folder. @throws Error when the replaced text does not occur exactly
 * once.
 */
const faulty = async ({ file, find, replace, what }: Mutant, copy: string): Promise<string> => {
  await cp(PROGRAMS, copy, { recursive: true, filter: (path) => !/\.(so|ts|json)$/.test(path) });
  const source = await Bun.file(join(copy, file)).text();
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`${file} has no one place for the fault "${what}"`);
  await Bun.write(join(copy, file), parts.join(replace));
  return copy;
};

type Case = { readonly harness: Harness; readonly mutant: Mutant | undefined };
const cases: Array<Case> = chosen.flatMap((harness) => [
  ...(quick && harness.isLong ? [] : [{ harness, mutant: undefined }]),
  ...harness.mutants.slice(0, quick ? 1 : undefined).map((mutant) => ({ harness, mutant })),
]);

let passed = 0;
let failed = 0;
const check = async ({ harness, mutant }: Case, index: number): Promise<void> => {
  const copy = join(work, String(index));
  const programs = mutant === undefined ? PROGRAMS : await faulty(mutant, copy);
  const file = join(import.meta.dir, "harness", `${harness.name}.c`);
  const verdict = await prove(
    esbmc,
    { file, rounds: harness.rounds, solver: harness.solver },
    programs,
  );
  const right = verdict.outcome === (mutant === undefined ? "proved" : "refuted");
  if (right) passed += 1;
  else failed += 1;
  const subject = mutant === undefined ? harness.name : `${harness.name}, fault: ${mutant.what}`;
  console.log(
    `(${right ? "pass" : "fail"}) ${subject}: ${verdict.outcome}, ${verdict.detail} [${verdict.seconds.toFixed(1)} s]`,
  );
  await rm(copy, { recursive: true, force: true });
};

// Two at a time: each takes one core and up to 300 MB.
const queue = cases.entries();
const worker = async (): Promise<void> => {
  for (const [index, each] of queue) await check(each, index);
};
await Promise.all([worker(), worker()]);
for (const { name } of chosen.filter(({ isLong }) => quick && isLong))
  console.log(`${name}: not proved here, its proof takes minutes: bun run test:more esbmc ${name}`);
console.log(`\n ${passed} pass\n ${failed} fail`);
process.exit(failed === 0 ? 0 : 1);
