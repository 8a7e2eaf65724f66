import { EX_USAGE, exitWith, readCommandLine } from "../../app/command-line/command-line.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const HELP = `Runs the crash and fault tests, each file in a process of its own.

usage: bun run test:more chaos [options] [name...]

  --quick     a short version of each, for continuous integration
  --seed N    replays the run with this seed; without it, one is drawn and printed
  --help      this text

A name is the beginning of a file's name in test/chaos. Ends with 1 when a test failed.
`;

const { values, positionals } = readCommandLine(
  HELP,
  {
    quick: { type: "boolean", default: false },
    seed: { type: "string" },
  },
  ["[name...]"],
);
const seed = runSeed(values.seed);
if (!Number.isSafeInteger(seed) || seed < 0) exitWith(EX_USAGE, "--seed takes a whole number");

const files = [...new Bun.Glob("*.chaos.ts").scanSync({ cwd: import.meta.dir })]
  .sort()
  .filter((file) => positionals.length === 0 || positionals.some((name) => file.startsWith(name)));
/** The command that repeats these files (all files when the list is empty) with the same seed and length. */
const again = (names: ReadonlyArray<string>): string =>
  ["bun run test:more chaos", ...(values.quick ? ["--quick"] : []), "--seed", seed, ...names].join(
    " ",
  );
process.stdout.write(`seed ${seed}; the same run again: ${again(positionals)}\n`);

const failed: Array<string> = [];
for (const file of files) {
  const child = Bun.spawn([process.execPath, "test", `${import.meta.dir}/${file}`], {
    env: { ...process.env, CHAOS_SEED: String(seed), CHAOS_QUICK: values.quick ? "1" : "0" },
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) failed.push(file);
}
process.stdout.write(
  failed.length === 0
    ? `${files.length} fault tests passed, seed ${seed}\n`
    : `failed: ${failed.join(", ")}; again: ${again(failed)}\n`,
);
process.exit(failed.length === 0 && files.length > 0 ? 0 : 1);
