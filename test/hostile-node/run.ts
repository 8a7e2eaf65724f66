import { EX_USAGE, exitWith, readCommandLine } from "../../app/command-line/command-line.ts";
import { SCENARIOS } from "./scenarios.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const HELP = `Plays the hostile nodes of test/hostile-node against the syncs, each with several seeds.

usage: bun run test:more hostile [options] [name...]

  --seeds N   seeds for each scenario (20)
  --seed N    the first seed; without it, one is drawn and printed
  --list      names every scenario and what its node does
  --help      this text

Ends with 1 when a test failed.
`;

const { values, positionals } = readCommandLine(
  HELP,
  {
    seeds: { type: "string", default: "20" },
    seed: { type: "string" },
    list: { type: "boolean", default: false },
  },
  ["[name...]"],
);
if (values.list) {
  for (const { name, does } of SCENARIOS) process.stdout.write(`${name}: a node that ${does}\n`);
  process.exit(0);
}
const unknown = positionals.filter((name) => !SCENARIOS.some((one) => one.name === name));
if (unknown.length > 0)
  exitWith(EX_USAGE, `there is no scenario ${unknown.join(", ")}; see --list`);
const seed = runSeed(values.seed);
const seeds = Number(values.seeds);
for (const number of [seed, seeds])
  if (!Number.isSafeInteger(number) || number < 0)
    exitWith(EX_USAGE, "--seed and --seeds take whole numbers");

const again = ["bun run test:more hostile", "--seeds", seeds, "--seed", seed, ...positionals].join(
  " ",
);
process.stdout.write(`seed ${seed}; the same run again: ${again}\n`);
const child = Bun.spawn([process.execPath, "test", `${import.meta.dir}/scenarios.test.ts`], {
  env: {
    ...process.env,
    HOSTILE_SEED: String(seed),
    HOSTILE_SEEDS: String(seeds),
    HOSTILE_NAMES: positionals.join(","),
  },
  stdout: "inherit",
  stderr: "inherit",
});
process.exit(await child.exited);
