import { test } from "bun:test";
import { endure } from "./endure.ts";
import { SCENARIOS } from "./scenarios.ts";

/** `bun run test:more hostile` sets both. */
const FIRST_SEED = Number(process.env["HOSTILE_SEED"] ?? 1);
const SEEDS = Number(process.env["HOSTILE_SEEDS"] ?? 1);
const NAMES = (process.env["HOSTILE_NAMES"] ?? "").split(",").filter((name) => name !== "");

for (const scenario of SCENARIOS) {
  if (NAMES.length > 0 && !NAMES.includes(scenario.name)) continue;
  for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed++)
    test(`an index survives a node that ${scenario.does} (${scenario.name}, seed ${seed})`, async () => {
      await endure(scenario, seed);
    }, 120_000);
}
