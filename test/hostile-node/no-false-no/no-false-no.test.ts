import { expect, test } from "bun:test";
import { runSeed, seededRandom } from "../../arbitraries/seeded-random.ts";
import { startBattery, type Played } from "./battery.ts";
import { type Fault, FAULTS } from "./faults.ts";
import { startTrueLedger, type TrueLedger } from "./true-ledger.ts";

const SEED = runSeed(process.env["NO_FALSE_NO_SEED"]);
/** Payments for each fault and each number of nodes: two relays and ten reads each. */
const PAYMENTS = Number(process.env["NO_FALSE_NO_PAYMENTS"] ?? 1);
const NAMES = process.env["NO_FALSE_NO_NAMES"]?.split(",").filter((name) => name !== "") ?? [];
/** The payments that one service sees, where it has two nodes. */
const AT_A_SERVICE = 2;
/** Faults that are always played, and how many others a short run draws. */
const ALWAYS = new Set([
  "old-state",
  "hidden-escrows",
  "emptied-ledger",
  "false-errors-in-statuses",
]);
const DRAWN = 2;
const LONG_MS = 3_600_000;

/** The faults of this run: the named ones, all of a long run, or a few that the seed draws. */
const chosen = (): ReadonlyArray<Fault> => {
  if (NAMES.length > 0) return FAULTS.filter(({ name }) => NAMES.includes(name));
  if (PAYMENTS > 1) return FAULTS;
  const random = seededRandom(SEED);
  const others = FAULTS.filter(({ name }) => !ALWAYS.has(name))
    .map((fault) => ({ fault, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .slice(0, DRAWN)
    .map(({ fault }) => fault);
  return [...FAULTS.filter(({ name }) => ALWAYS.has(name)), ...others];
};

const sum = (all: ReadonlyArray<Played>, of: (played: Played) => number): number =>
  all.reduce((total, played) => total + of(played), 0);

const line = ({ fault, reads, relays, lies }: Played, nodes: number): string =>
  [
    `${fault.padEnd(28)} ${nodes} node(s), ${lies} answers`,
    ...[reads, relays].map(
      (of) =>
        `${of.right} right, ${of.retryable} retryable, ${of.not_sent} not sent, ${of.old_state} old, ${of.false_no} false no, ${of.false_safe} false safe`,
    ),
  ].join(" | ");

/** Plays the chosen faults, and prints what each came to. */
const playAll = async (ledger: TrueLedger, nodes: 1 | 2): Promise<ReadonlyArray<Played>> => {
  const all: Array<Played> = [];
  const atOnce = nodes === 1 ? PAYMENTS : AT_A_SERVICE;
  for (const fault of chosen())
    for (let from = 0; from < PAYMENTS; from += atOnce) {
      const payments = Array.from({ length: Math.min(atOnce, PAYMENTS - from) }, (_, at) =>
        ledger.payment(`${SEED}/${nodes}/${fault.name}/${from + at}`),
      );
      // A service asks a node that was found lying last, so each begins with a service that trusts it.
      const battery = await startBattery(ledger, [fault], { nodes, seed: SEED + from });
      try {
        const played = await battery.play(fault, payments);
        all.push(played);
        process.stdout.write(`${line(played, nodes)}\n`);
        for (const wrong of played.wrong) process.stdout.write(`    ${wrong.slice(0, 400)}\n`);
      } finally {
        await battery.stop();
      }
    }
  const asked = (kind: "reads" | "relays") =>
    sum(all, (played) => Object.values(played[kind]).reduce((a, b) => a + b, 0));
  process.stdout.write(
    `${nodes} node(s), seed ${SEED}: ${chosen().length} faults, ${asked("reads")} reads, ${asked("relays")} relays, ${sum(all, ({ lies }) => lies)} answers of the hostile node\n`,
  );
  return all;
};

test(
  "whatever the first of two nodes does, the service denies nothing that is there",
  async () => {
    const ledger = await startTrueLedger();
    try {
      const all = await playAll(ledger, 2);
      expect(all.flatMap(({ wrong }) => wrong)).toEqual([]);
      expect(sum(all, ({ reads }) => reads.right)).toBeGreaterThan(0);
      expect(all.filter(({ lies }) => lies === 0)).toEqual([]);
    } finally {
      await ledger.stop();
    }
  },
  LONG_MS,
);

test(
  "whatever the only node does, the service asks to be asked again, and denies no payment that was made",
  async () => {
    const ledger = await startTrueLedger();
    try {
      const all = await playAll(ledger, 1);
      // What one node alone refuses before it is sent, nobody else can judge. Nothing was paid.
      const wrong = all.flatMap((played) =>
        played.wrong.filter((one) => !one.includes("not_sent")),
      );
      expect(wrong).toEqual([]);
    } finally {
      await ledger.stop();
    }
  },
  LONG_MS,
);
