import { expect, test } from "bun:test";
import { simulateRelay } from "./relay-simulation.ts";
import { runSeed } from "../../arbitraries/seeded-random.ts";

const whole = (name: string, otherwise: number): number => {
  const text = process.env[name];
  return text === undefined || text === "" ? otherwise : Number(text);
};
/** The number of runs, and the seed of the first. A fault names its own seed. */
const RUNS = whole("RELAY_RUNS", 30);
const FIRST_SEED = runSeed(process.env["RELAY_SEED"]);

test("whatever nodes, forks, kills and retries do, no outcome is wrong and nothing is paid twice", async () => {
  const totals = { paid: 0, failed: 0, expired: 0, open: 0 };
  for (let seed = FIRST_SEED; seed < FIRST_SEED + RUNS; seed++) {
    const { faults, outcomes } = await simulateRelay(seed);
    if (faults.length > 0) throw new Error(`RELAY_SEED=${seed} RELAY_RUNS=1: ${faults.join("; ")}`);
    for (const name of Object.keys(totals) as ReadonlyArray<keyof typeof totals>)
      totals[name] += outcomes[name];
  }
  console.log(`${RUNS} runs from seed ${FIRST_SEED}: ${JSON.stringify(totals)}`);
}, 14_400_000);

test("the same seed gives the same run", async () => {
  for (const seed of [1, 2, 3]) {
    const { trace } = await simulateRelay(seed);
    expect(trace.length).toBeGreaterThan(3);
    expect((await simulateRelay(seed)).trace).toEqual(trace);
  }
});
