import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { startStand } from "../pays-once/stand.ts";
import type { Outcome } from "./kinds/outcome.ts";
import { inLanes, kindsOf } from "./kinds.ts";
import { killsOf } from "./kinds/kills.ts";
import type { Battery } from "./open-case.ts";
import { ourSides } from "./our-sides.ts";
import { pythonSides } from "./python-sides.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const SEED = runSeed();
/** How many cases of each kind the suite plays, of those that the seed gives. */
const PLAYED: Readonly<Record<string, number>> = {
  "kill-agent": 2,
  "kill-seller": 2,
  calls: 1,
  "full-disk": 1,
  clocks: 1,
  redirects: 1,
  messages: 4,
  answers: 2,
  "many-answers": 1,
  restored: 1,
  taker: 1,
};
const AMOUNTS = { cases: 24, calls: 60, messages: 300, answers: 60 };
const LANES = 3;
const LONG_MS = 240_000;

let battery: Battery;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
  const stand = await startStand();
  const trustFile = join(directory.path, "trust.json");
  await writeFile(trustFile, stand.trust);
  const sides = await ourSides(directory.path);
  battery = { ...sides, name: "ours", stand, folder: directory.path, trustFile, seed: SEED };
}, LONG_MS);

afterAll(async () => {
  await battery.stand.stop();
  await directory.remove();
}, LONG_MS);

/** The cases of a kind that this seed chooses. */
const chosen = (
  kind: string,
  wanted: number,
  sides: Partial<Battery> = {},
): ReadonlyArray<() => Promise<Outcome>> => {
  const all = kindsOf({ ...battery, ...sides }, AMOUNTS);
  const cases = all.find(([name]) => name === kind)?.[1] ?? [];
  return Array.from({ length: wanted }, (_, n) => cases[(SEED + n) % cases.length]).filter(
    (each) => each !== undefined,
  );
};

const requireFaultless = (outcomes: ReadonlyArray<Outcome>): void => {
  const wrong = outcomes.filter(({ faults }) => faults.length > 0);
  expect(wrong).toEqual([]);
};

test(
  `neither side of a session loses anything: seed ${SEED}`,
  async () => {
    const cases = Object.entries(PLAYED).flatMap(([kind, wanted]) => chosen(kind, wanted));
    const outcomes: Array<Outcome> = [];
    await inLanes(cases, LANES, (outcome) => outcomes.push(outcome));
    requireFaultless(outcomes);
    expect(outcomes).toHaveLength(17);
  },
  LONG_MS,
);

test(
  "a buyer that begins anew at each run, and a seller that forgets its calls, are caught",
  async () => {
    // Killed in the middle of a session, while the other side still waits: a kill behind an answer can come after the last call.
    const middle = (who: "agent" | "seller"): number =>
      killsOf(SEED, who, AMOUNTS.cases).findIndex(
        ({ at, when }) => at === 2 && when === "before the answer",
      );
    const played = async (who: "agent" | "seller", sides: Partial<Battery>): Promise<string> => {
      const cases = kindsOf({ ...battery, ...sides, name: "forgetful" }, AMOUNTS);
      const play = cases.find(([kind]) => kind === `kill-${who}`)?.[1][middle(who)];
      return (await play?.())?.faults.join("\n") ?? "";
    };
    const forgetful = {
      buyer: `rm -rf "$JOURNAL"; mkdir "$JOURNAL"; ${battery.buyer}`,
      seller: `rm -rf "$STORE"/*; ${battery.seller}`,
    };
    const [agent, seller] = await Promise.all([
      played("agent", { buyer: forgetful.buyer }),
      played("seller", { seller: forgetful.seller }),
    ]);
    expect(agent).toContain("were opened, not one");
    expect(seller).toContain("calls were made, not 5");
  },
  LONG_MS,
);

const python = pythonSides();
test.skipIf(python.missing !== null)(
  python.missing === null
    ? `the sides in Python lose nothing either: seed ${SEED}`
    : `the sides in Python, which need ${python.missing}`,
  async () => {
    const seller = { name: "Python's seller", seller: python.seller };
    const buyer = { name: "Python's buyer", buyer: python.buyer, buyers: python.buyers };
    const cases = [
      ...["kill-seller", "full-disk", "restored"].flatMap((kind) => chosen(kind, 1, seller)),
      ...["kill-agent", "redirects", "answers", "many-answers"].flatMap((kind) =>
        chosen(kind, 1, buyer),
      ),
    ];
    const outcomes: Array<Outcome> = [];
    await inLanes(cases, LANES, (outcome) => outcomes.push(outcome));
    requireFaultless(outcomes);
    expect(outcomes).toHaveLength(7);
  },
  LONG_MS,
);

// The ledger skips a day, so it comes last.
test(
  "an old final attestation is signed anew",
  async () => {
    for (const play of chosen("old-final", 1)) requireFaultless([await play()]);
  },
  LONG_MS,
);
