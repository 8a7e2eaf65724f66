import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { EX_USAGE, exitWith, readCommandLine } from "../../app/command-line/command-line.ts";
import { startStand } from "../pays-once/stand.ts";
import { tmpdir } from "../temporary-root.ts";
import { inLanes, kindsOf, KINDS } from "./kinds.ts";
import type { Battery } from "./open-case.ts";
import { serverPrograms, startCluster } from "../adapters/postgres/temporary-cluster.ts";
import { ourSides } from "./our-sides.ts";
import { pythonSides } from "./python-sides.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const HELP = `Plays against a seller and a buyer of sessions: kills, lost copies, full disks, wrong clocks, hostile messages. Then the
ledger is asked what each side lost. docs/sessions.md says what a side is given and how it answers.

usage: bun run test:more sessions [options]

  --seller COMMAND   the seller, a shell command; ours, and Python's, without it
  --buyer COMMAND    the buyer, a shell command; the same (--client is the same)
  --sides NAME       one of ours, "Python's seller" and "Python's buyer", where neither command is given
  --kind NAME        one of ${KINDS.slice(0, 6).join(", ")},
                     ${KINDS.slice(6).join(", ")}; all without it
  --cases N          moments of kills                     (50)
  --calls N          calls of the kind calls              (10000)
  --messages N       hostile messages to a seller         (100000)
  --answers N        hostile answers to a buyer           (1000)
  --lanes N          cases at the same time               (4)
  --seed N           replays the run with this seed; without it, one is drawn and printed
  --help             this text

Ends with 1 when a side lost more than it may.
`;

const { values } = readCommandLine(HELP, {
  seller: { type: "string" },
  buyer: { type: "string" },
  client: { type: "string" },
  sides: { type: "string" },
  kind: { type: "string" },
  cases: { type: "string", default: "50" },
  calls: { type: "string", default: "10000" },
  messages: { type: "string", default: "100000" },
  answers: { type: "string", default: "1000" },
  lanes: { type: "string", default: "4" },
  seed: { type: "string" },
});
const seed = runSeed(values.seed);
const amounts = {
  cases: Number(values.cases),
  calls: Number(values.calls),
  messages: Number(values.messages),
  answers: Number(values.answers),
};
const lanes = Number(values.lanes);
if (![seed, lanes, ...Object.values(amounts)].every((number) => Number.isSafeInteger(number)))
  exitWith(
    EX_USAGE,
    "--cases, --calls, --messages, --answers, --lanes and --seed take whole numbers",
  );
if (values.kind !== undefined && !KINDS.includes(values.kind))
  exitWith(EX_USAGE, `There is no kind ${values.kind}; see --help`);
process.stdout.write(`seed ${seed}\n`);

const buyer = values.buyer ?? values.client;

/** Plays every kind that was asked for, and gives the number of cases that failed. */
const failuresOf = async (battery: Battery): Promise<number> => {
  const { name } = battery;
  let failures = 0;
  for (const [kind, played] of kindsOf(battery, amounts)) {
    if (values.kind !== undefined && values.kind !== kind) continue;
    if (played.length === 0) {
      process.stdout.write(`SKIPPED  ${name}, ${kind}: no PostgreSQL, or a seller without it\n`);
      continue;
    }
    let [whole, began] = [0, performance.now()];
    await inLanes(played, kind === "old-final" ? 1 : lanes, ({ name: title, faults, said }) => {
      process.stdout.write(`${faults.length === 0 ? "passed" : "FAILED"}  ${name}, ${title}\n`);
      if (faults.length === 0) whole += 1;
      else process.stdout.write([...faults, ...said].map((line) => `    ${line}\n`).join(""));
    });
    failures += played.length - whole;
    const seconds = Math.round((performance.now() - began) / 1000);
    process.stdout.write(
      `seed ${seed}, ${name}, ${kind}: ${whole} of ${played.length} passed, ${seconds} s\n`,
    );
  }
  return failures;
};

const folder = await mkdtemp(join(tmpdir(), "sessions-"));
const stand = await startStand();
const programs = serverPrograms();
const isPostgres = programs !== undefined && (values.kind ?? "postgres") === "postgres";
const cluster = isPostgres ? await startCluster(programs) : null;
let failed = 0;
try {
  const trustFile = join(folder, "trust.json");
  await writeFile(trustFile, stand.trust);
  const ours = await ourSides(folder);
  const python = pythonSides();
  const isOpen = values.seller === undefined && buyer === undefined;
  const pairs: Array<readonly [string, Pick<Battery, "seller" | "buyer" | "buyers">]> = [
    [
      isOpen ? "ours" : "yours",
      { seller: values.seller ?? ours.seller, buyer: buyer ?? ours.buyer },
    ],
  ];
  if (isOpen && python.missing === null)
    pairs.push(
      ["Python's seller", { seller: python.seller, buyer: ours.buyer }],
      ["Python's buyer", { seller: ours.seller, buyer: python.buyer, buyers: python.buyers }],
    );
  else if (isOpen) process.stdout.write(`SKIPPED Python: ${python.missing} is absent\n`);
  for (const [name, sides] of pairs) {
    if (values.sides !== undefined && values.sides !== name) continue;
    const postgres =
      cluster === null || sides.seller === python.seller ? {} : { postgres: cluster.url };
    failed += await failuresOf({ ...sides, ...postgres, stand, folder, trustFile, seed, name });
  }
} finally {
  await cluster?.stop();
  await stand.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);
