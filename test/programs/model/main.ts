import { parseArgs } from "node:util";
import { AVERAGE_LENGTH } from "./sequences.ts";

const HELP = `Compares the programs' binaries with the model of the protocol.

usage: bun run test:more model [--steps N] [--seed S]     random sequences, 100,000 steps
       bun run test:more explore [--depth N | --quick]    every sequence of up to 6 operations, then mutated programs
                                                     (--quick: up to 4)

Ends with 1 when the ledger and the model differ, a promise is broken or a mutant is not caught.
`;

const { values, positionals } = parseArgs({
  options: {
    steps: { type: "string", default: "100000" },
    seed: { type: "string" },
    depth: { type: "string" },
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
const exploration = {
  files: ["explore.model.ts", "mutants.model.ts"],
  env: {
    EXPLORE_DEPTH: String(whole("depth", values.depth ?? (values.quick ? "4" : "6"))),
    MUTANTS_QUICK: values.quick ? "1" : "0",
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
