import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { bundledProgram } from "./bundled-program.ts";
import { pythonClient } from "./clients.ts";
import { casesOf } from "./cases.ts";
import { runCase } from "./run-case.ts";
import { startStand } from "./stand.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const SEED = runSeed();
const CASES = 6;
const OURS = join(import.meta.dir, "our-client.ts");
const DOUBLE_PAYING = join(import.meta.dir, "double-paying-client.ts");
const LONG_MS = 240_000;

let stand: Awaited<ReturnType<typeof startStand>>;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let trustFile: string;

beforeAll(async () => {
  directory = await temporaryDirectory();
  stand = await startStand();
  trustFile = join(directory.path, "trust.json");
  await writeFile(trustFile, stand.trust);
}, LONG_MS);

afterAll(async () => {
  await stand.stop();
  await directory.remove();
}, LONG_MS);

for (const plan of casesOf(SEED, CASES))
  test(
    `a client that is killed and run again pays once: seed ${SEED}, ${plan.name}`,
    async () => {
      const command = await bundledProgram(OURS, directory.path);
      const { faults, seen, runs } = await runCase(stand, command, plan, SEED, trustFile);
      expect({ faults, seen: faults.length === 0 ? [] : seen }).toEqual({ faults: [], seen: [] });
      // One is killed, one pays, and one finds it paid.
      expect(runs).toBeGreaterThan(2);
      expect(seen.join("\n")).toContain("client killed");
    },
    LONG_MS,
  );

const python = pythonClient();
for (const plan of casesOf(SEED, 2))
  test.skipIf(python.missing !== null)(
    python.missing === null
      ? `the client in Python pays once: seed ${SEED}, ${plan.name}`
      : `the client in Python, which needs ${python.missing}`,
    async () => {
      const named = { ...plan, name: `Python ${plan.name}` };
      const { faults, seen } = await runCase(stand, python.command, named, SEED, trustFile);
      expect({ faults, seen: faults.length === 0 ? [] : seen }).toEqual({ faults: [], seen: [] });
      expect(seen.join("\n")).toContain("client killed");
    },
    LONG_MS,
  );

test(
  "a client that names its payment anew at each run is caught",
  async () => {
    const command = await bundledProgram(DOUBLE_PAYING, directory.path);
    const [plan] = casesOf(SEED, 1);
    if (plan === undefined) throw new Error("there is a case");
    const { faults } = await runCase(
      stand,
      command,
      { ...plan, name: "caught", kill: { at: 2, when: "before the answer", afterMs: 0 } },
      SEED,
      trustFile,
    );
    // Whether the killed run's transaction landed depends on the moment: two or three were paid.
    expect(faults.join("\n")).toMatch(
      /(3000000|4500000) base units left the agent's account, not 1500000/,
    );
    expect(faults.join("\n")).toMatch(/the agent has [23] escrows, not one/);
  },
  LONG_MS,
);
