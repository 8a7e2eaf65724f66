import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EX_USAGE, exitWith, readCommandLine } from "../../app/command-line/command-line.ts";
import { startStand } from "../pays-once/stand.ts";
import { tmpdir } from "../temporary-root.ts";
import { inLanes, kindsOf, KINDS } from "./kinds.ts";
import { ourSides } from "./our-sides.ts";

const HELP = `Plays against a seller and a buyer of sessions: kills, lost copies, full disks, wrong clocks, hostile messages. Then the
ledger is asked what each side lost. docs/sessions.md says what a side is given and how it answers.

usage: bun run test:more sessions [options]

  --seller COMMAND   the seller, a shell command; ours without it
  --buyer COMMAND    the buyer, a shell command; ours without it (--client is the same)
  --kind NAME        one of ${KINDS.slice(0, 6).join(", ")},
                     ${KINDS.slice(6).join(", ")}; all without it
  --cases N          moments of kills                     (50)
  --calls N          calls of the kind calls              (10000)
  --messages N       hostile messages                     (100000)
  --lanes N          cases at the same time               (4)
  --seed N           replays the run with this seed; without it, one is drawn and printed
  --help             this text

Ends with 1 when a side lost more than it may.
`;

const { values } = readCommandLine(HELP, {
  seller: { type: "string" },
  buyer: { type: "string" },
  client: { type: "string" },
  kind: { type: "string" },
  cases: { type: "string", default: "50" },
  calls: { type: "string", default: "10000" },
  messages: { type: "string", default: "100000" },
  lanes: { type: "string", default: "4" },
  seed: { type: "string" },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const [cases, calls, messages, lanes] = [
  values.cases,
  values.calls,
  values.messages,
  values.lanes,
].map(Number) as [number, number, number, number];
if (![seed, cases, calls, messages, lanes].every((number) => Number.isSafeInteger(number)))
  exitWith(EX_USAGE, "--cases, --calls, --messages, --lanes and --seed take whole numbers");
if (values.kind !== undefined && !KINDS.includes(values.kind))
  exitWith(EX_USAGE, `There is no kind ${values.kind}; see --help`);
process.stdout.write(`seed ${seed}\n`);

const folder = await mkdtemp(join(tmpdir(), "sessions-"));
const stand = await startStand();
let failed = 0;
try {
  const trustFile = join(folder, "trust.json");
  await writeFile(trustFile, stand.trust);
  const ours = await ourSides(folder);
  const sides = {
    seller: values.seller ?? ours.seller,
    buyer: values.buyer ?? values.client ?? ours.buyer,
  };
  const battery = { ...sides, stand, folder, trustFile, seed };
  for (const [kind, played] of kindsOf(battery, { cases, calls, messages })) {
    if (values.kind !== undefined && values.kind !== kind) continue;
    let [whole, began] = [0, performance.now()];
    await inLanes(played, kind === "old-final" ? 1 : lanes, ({ name, faults, said }) => {
      process.stdout.write(`${faults.length === 0 ? "passed" : "FAILED"}  ${name}\n`);
      if (faults.length === 0) whole += 1;
      else process.stdout.write([...faults, ...said].map((line) => `    ${line}\n`).join(""));
    });
    failed += played.length - whole;
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(
      `seed ${seed}, ${kind}: ${whole} of ${played.length} passed, ${seconds} s\n`,
    );
  }
} finally {
  await stand.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
