import { expect, test } from "bun:test";
import { Exploration } from "./explore.ts";
import { committedBinaries } from "./machine.ts";

/** Operations in a sequence at most. */
const DEPTH = Number(process.env["EXPLORE_DEPTH"] ?? 6);
const A_MILLION = 1_000_000;

test(`every sequence of up to ${DEPTH} operations keeps the protocol's promises`, async () => {
  const explored = new Exploration(await committedBinaries()).explore(DEPTH);
  const { operations, states, transitions, executions, taken } = explored;
  process.stdout.write(
    `${operations} operations, sequences of up to ${explored.depth}: ${states} states, ${transitions} transitions; ` +
      `the binaries ran ${executions} different transactions and took ${taken}\n`,
  );
  expect(explored.depth).toBe(DEPTH);
  if (DEPTH >= 6) expect(transitions).toBeGreaterThan(A_MILLION);
}, 3_600_000);
