import { expect, test } from "bun:test";
import { Exploration } from "./explore.ts";
import { committedBinaries } from "./machine.ts";

/** Operations in a sequence at most. */
const DEPTH = Number(process.env["EXPLORE_DEPTH"] ?? 6);
/** Transitions after which exploration stops, wherever it is. */
const TRANSITIONS = Number(process.env["EXPLORE_TRANSITIONS"] ?? 5_500_000);

test(`every sequence of up to ${DEPTH} operations keeps the protocol's promises`, async () => {
  const explored = await new Exploration(await committedBinaries()).explore(
    DEPTH,
    TRANSITIONS,
    (line) => process.stderr.write(`${line}\n`),
  );
  const { operations, states, transitions, executions, taken } = explored;
  process.stdout.write(
    `${operations} operations, sequences of up to ${explored.depth}: ${states} states, ${transitions} transitions; ` +
      `the binaries ran ${executions} different transactions and took ${taken}\n`,
  );
  expect(explored.depth === DEPTH || transitions >= TRANSITIONS).toBe(true);
}, 7_200_000);
