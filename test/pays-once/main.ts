import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EX_USAGE, exitWith, readCommandLine } from "../../app/command-line/command-line.ts";
import { tmpdir } from "../temporary-root.ts";
import { bundledProgram } from "./bundled-program.ts";
import { pythonClient } from "./clients.ts";
import { casesOf } from "./cases.ts";
import { runCase } from "./run-case.ts";
import { startStand } from "./stand.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const HELP = `Kills a client at seeded moments, loses and garbles what it sends and hears, and counts what its agent paid. docs/pays-once.md
says what a client is given and how it answers.

usage: bun run test:more pays-once [options]

  --client COMMAND   the client, a shell command; ours and then the one in Python without it
  --cases N          how many cases, each with one kill and one fault   (50)
  --seed N           replays the run with this seed; without it, one is drawn and printed
  --help             this text

Ends with 1 when the client paid other than once.
`;

const { values } = readCommandLine(HELP, {
  client: { type: "string" },
  cases: { type: "string", default: "50" },
  seed: { type: "string" },
});
const seed = runSeed(values.seed);
const count = Number(values.cases);
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count))
  exitWith(EX_USAGE, "--seed and --cases take whole numbers");
process.stdout.write(`seed ${seed}\n`);

const folder = await mkdtemp(join(tmpdir(), "pays-once-"));
const stand = await startStand();
const trustFile = join(folder, "trust.json");

/** Runs a client through every case, and gives the number of those that failed. */
const failuresOf = async (name: string, command: string): Promise<number> => {
  let failed = 0;
  for (const plan of casesOf(seed, count)) {
    const named = { ...plan, name: `${name} ${plan.name}` };
    const { faults, runs, seen } = await runCase(stand, command, named, seed, trustFile);
    const line = `${named.name}; ${runs} runs, ${seen.length} requests`;
    process.stdout.write(`${faults.length === 0 ? "paid once" : "FAILED   "}  ${line}\n`);
    if (faults.length === 0) continue;
    failed += 1;
    process.stdout.write([...faults, ...seen].map((each) => `    ${each}\n`).join(""));
  }
  process.stdout.write(`seed ${seed}, ${name}: ${count - failed} of ${count} cases paid once\n`);
  return failed;
};

let failed = 0;
try {
  await writeFile(trustFile, stand.trust);
  if (values.client === undefined) {
    failed += await failuresOf(
      "ours",
      await bundledProgram(join(import.meta.dir, "our-client.ts"), folder),
    );
    const { command, missing } = pythonClient();
    if (missing === null) failed += await failuresOf("Python", command);
    else process.stdout.write(`SKIPPED Python: ${missing} is absent\n`);
  } else failed += await failuresOf("yours", values.client);
} finally {
  await stand.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
