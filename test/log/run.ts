import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const HELP = `Compares core/log with Go's golang.org/x/mod/sumdb/tlog and note, and flips bytes of proofs and notes.

usage: bun run test:log [options]

  --quick     2,000 proofs and 500 flips instead of 100,000 and 10,000
  --seed N    replays the run with this seed; without it, one is drawn and printed
  --help      this text

Skips, and says so, where Go is not installed. Go fetches the module by its own means the first time.
`;

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("--seed takes a whole number");
if (Bun.which("go") === null) {
  process.stdout.write("test:log: SKIPPED, nothing was compared. Go is not on the PATH.\n");
  process.exit(0);
}

const again = `bun run test:log${values.quick ? " --quick" : ""} --seed ${seed}`;
process.stdout.write(`seed ${seed}; the same run again: ${again}\n`);

const SHORT = { LOG_PROOFS: "2000", LOG_LEAVES: "70000", LOG_NOTES: "60", FC_NUM_RUNS: "500" };
const LONG = {
  LOG_PROOFS: "100000",
  LOG_LEAVES: "2000000",
  LOG_NOTES: "2000",
  FC_NUM_RUNS: "10000",
};

const folder = await mkdtemp(join(tmpdir(), "log-oracle-"));
const binary = join(folder, "oracle");
/** Runs a program to its end, and gives its exit code. */
const run = async (words: ReadonlyArray<string>, cwd: string): Promise<number> => {
  const child = Bun.spawn([...words], {
    cwd,
    env: {
      ...process.env,
      ...(values.quick ? SHORT : LONG),
      LOG_ORACLE: binary,
      LOG_SEED: String(seed),
      FC_SEED: String(seed),
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return child.exited;
};

const root = join(import.meta.dir, "../..");
const files = [
  ...[...new Bun.Glob("*.log.ts").scanSync({ cwd: import.meta.dir })].sort(),
  "../core/log/byte-flips.test.ts",
];
const tests = files.map((file) => join(import.meta.dir, file));
try {
  const built = await run(["go", "build", "-o", binary, "."], join(import.meta.dir, "go"));
  process.exitCode =
    built || (await run([process.execPath, "test", ...tests, "--timeout", "3600000"], root));
} finally {
  await rm(folder, { recursive: true, force: true });
}
if (process.exitCode !== 0) process.stdout.write(`failed; the same run again: ${again}\n`);
