import { expect, test } from "bun:test";
import fc from "fast-check";
import { runs } from "../../arbitraries/runs.ts";
import { LAYOUTS } from "./call.ts";
import { committedBinaries, Machine } from "./machine.ts";
import { checkSteps, type Tally } from "./run.ts";
import { STEPS } from "./sequences.ts";

/** Enough sequences that each instruction is accepted at least once, whatever the seed. */
const MANY = 1000;

const machine = new Machine(await committedBinaries());

test("the programs agree with the model, and the relay refuses nothing that they accept", () => {
  const tally: Tally = new Map();
  const asked = runs<[ReadonlyArray<ReadonlyArray<number>>]>(34);
  fc.assert(
    fc.property(STEPS, (each) => checkSteps(machine, each, tally)),
    // The steps shrink by themselves.
    { ...asked, endOnFailure: true },
  );
  if ((asked.numRuns ?? 0) < MANY) return;
  const total = [...tally.values()].reduce((sum, each) => sum + each, 0);
  const lines = [...tally].map(([what, count]) => `${what}: ${count}`);
  process.stdout.write(`${lines.sort().join("\n")}\n${total} steps\n`);
  // No wallet is an escrow, so only custody can call `record_delivery`.
  const never = Object.keys(LAYOUTS).filter((name) => !tally.has(`${name} taken`));
  expect(never).toEqual(["record_delivery"]);
}, 3_600_000);
