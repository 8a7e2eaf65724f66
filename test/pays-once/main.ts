import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { tmpdir } from "../temporary-root.ts";
import { bundledClient } from "./bundled-client.ts";
import { casesOf } from "./cases.ts";
import { runCase } from "./run-case.ts";
import { startStand } from "./stand.ts";

const HELP = `Kills a client at seeded moments, loses and garbles what it sends and hears, and counts what its agent paid. docs/pays-once.md
says what a client is given and how it answers.

usage: bun run test:pays-once [options]

  --client COMMAND   the client, a shell command; ours without it
  --cases N          how many cases, each with one kill and one fault   (50)
  --seed N           replays the run with this seed; without it, one is drawn and printed
  --help             this text

Ends with 1 when the client paid other than once.
`;

const { values } = parseArgs({
  options: {
    client: { type: "string" },
    cases: { type: "string", default: "50" },
    seed: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const count = Number(values.cases);
if (!Number.isSafeInteger(seed) || !Number.isSafeInteger(count))
  throw new Error("--seed and --cases take whole numbers");
process.stdout.write(`seed ${seed}\n`);

const folder = await mkdtemp(join(tmpdir(), "pays-once-"));
const stand = await startStand();
let failed = 0;
try {
  const trustFile = join(folder, "trust.json");
  await writeFile(trustFile, stand.trust);
  const command = values.client ?? (await bundledClient("our-client", folder));
  for (const plan of casesOf(seed, count)) {
    const { faults, runs, seen } = await runCase(stand, command, plan, seed, trustFile);
    const line = `${plan.name}; ${runs} runs, ${seen.length} requests`;
    process.stdout.write(`${faults.length === 0 ? "paid once" : "FAILED   "}  ${line}\n`);
    if (faults.length === 0) continue;
    failed += 1;
    process.stdout.write([...faults, ...seen].map((each) => `    ${each}\n`).join(""));
  }
} finally {
  await stand.stop();
  await rm(folder, { recursive: true, force: true });
}
process.stdout.write(`seed ${seed}: ${count - failed} of ${count} cases paid once\n`);
process.exit(failed === 0 ? 0 : 1);
