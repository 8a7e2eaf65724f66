import { parseArgs } from "node:util";
import { AVERAGE_LENGTH } from "./sequences.ts";

const HELP = `Compares the programs' binaries with the model of the protocol.

usage: bun run test:more model [--steps N] [--seed S]
           random sequences, 100,000 steps
       bun run test:more explore [--depth N] [--transitions N]
           every sequence of up to 6 operations, 5,500,000 transitions; then mutated programs
       bun run test:more explore --liveness [--cases N] [--seed S]
           lives of escrows among dishonest parties, 100,000 cases; then rules left out
       bun run test:more explore --quick
           sequences of up to 3, some mutants, 500 lives from a seed

Ends with 1 when the ledger and the model differ, a promise is broken, somebody is vetoed, or a mutant is not noticed.
`;

const { values, positionals } = parseArgs({
  options: {
    steps: { type: "string", default: "100000" },
    seed: { type: "string" },
    depth: { type: "string" },
    transitions: { type: "string", default: "5500000" },
    liveness: { type: "boolean", default: false },
    cases: { type: "string", default: "100000" },
    quick: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
  allowPositionals: true,
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const whole = (name: string, text: string): number => {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`--${name} takes a number above 0`);
  return number;
};

const [what] = positionals;
const sequences = {
  files: ["sequences.test.ts"],
  env: {
    FC_NUM_RUNS: String(Math.ceil(whole("steps", values.steps) / AVERAGE_LENGTH)),
    ...(values.seed !== undefined && { FC_SEED: values.seed }),
  },
};
const { quick } = values;
const exploration = {
  files: values.liveness
    ? ["liveness.model.ts"]
    : ["explore.model.ts", "mutants.model.ts", ...(quick ? ["liveness.model.ts"] : [])],
  env: {
    EXPLORE_DEPTH: String(whole("depth", values.depth ?? (quick ? "3" : "6"))),
    EXPLORE_TRANSITIONS: String(whole("transitions", values.transitions)),
    MUTANTS_QUICK: quick ? "1" : "0",
    LIVENESS_CASES: String(quick ? 500 : whole("cases", values.cases)),
    LIVENESS_SEED: String(whole("seed", values.seed ?? "1")),
    LIVENESS_QUICK: quick ? "1" : "0",
  },
};
const { files, env } = what === "explore" ? exploration : sequences;

let status = 0;
for (const file of files) {
  const child = Bun.spawn([process.execPath, "test", `${import.meta.dir}/${file}`], {
    env: { ...process.env, ...env },
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) status = 1;
}
process.exit(status);
