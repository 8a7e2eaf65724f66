import { expect } from "bun:test";
import { runSchedule } from "./run-schedule.ts";
import { NOTHING, type Tally } from "./tally.ts";
import type { StoreKind } from "./schedule-stores.ts";
import { runSeed } from "../../arbitraries/seeded-random.ts";

/** A whole number of the environment. */
export const whole = (name: string, otherwise: number): number => {
  const text = process.env[name];
  return text === undefined || text === "" ? otherwise : Number(text);
};

/** Runs schedules one after the other and prints what happened in them. `kindOf` chooses the store of a seed. */
export const manySchedules = async (
  amount: number,
  kindOf: (seed: number) => StoreKind,
  again: (environment: string) => string,
): Promise<void> => {
  const first = runSeed(process.env["LOG_SCHEDULES_SEED"]);
  const totals = { ...NOTHING };
  for (let seed = first; seed < first + amount; seed++) {
    const kind = kindOf(seed);
    const tally = await runSchedule(seed, kind).catch((cause: unknown) => {
      const command = again(`LOG_SCHEDULES_SEED=${seed} LOG_SCHEDULES=1`);
      throw new Error(`on ${kind.name}; the same again: ${command}`, { cause });
    });
    for (const name of Object.keys(totals) as ReadonlyArray<keyof Tally>)
      totals[name] += tally[name];
  }
  console.log(`${amount} schedules from seed ${first}: ${JSON.stringify(totals)}`);
  // Otherwise the schedules would show nothing. A few of them may lack some of it by chance.
  if (amount < 12) return;
  expect(totals.syncs).toBeGreaterThan(2 * amount);
  expect(totals.signed).toBeGreaterThan(amount);
  expect(totals.cosigned).toBeGreaterThan(amount);
  expect(totals.kills).toBeGreaterThan(0);
  expect(totals.failedSyncs).toBeGreaterThan(0);
  if (amount < 100) return;
  expect(totals.lies).toBeGreaterThan(amount);
  expect(totals.restored).toBeGreaterThan(amount / 2);
  expect(totals.rotated).toBeGreaterThan(amount / 5);
  expect(totals.retired).toBeGreaterThan(amount / 10);
  expect(totals.ended).toBeGreaterThan(amount / 40);
  expect(totals.takenBack).toBeGreaterThan(amount / 20);
  expect(totals.kills).toBeGreaterThan(amount / 3);
  expect(totals.failedSyncs).toBeGreaterThan(amount);
  expect(totals.onFork).toBeGreaterThan(amount / 10);
  expect(totals.unseen).toBeGreaterThan(amount / 10);
};
