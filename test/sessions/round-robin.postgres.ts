import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { startStand } from "../pays-once/stand.ts";
import { postgresCases } from "./kinds/kills.ts";
import { ourSides } from "./our-sides.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const SEED = runSeed();

test(`two processes of a seller over one PostgreSQL lose nothing when they are killed: seed ${SEED}`, async () => {
  const directory = await temporaryDirectory();
  const stand = await startStand();
  try {
    const trustFile = join(directory.path, "trust.json");
    await writeFile(trustFile, stand.trust);
    const sides = await ourSides(directory.path);
    const postgres = process.env["TEST_DATABASE_URL"] ?? "";
    const place = { name: "ours", stand, folder: directory.path, trustFile, postgres };
    const cases = postgresCases({ ...sides, ...place, seed: SEED }, 2);
    const outcomes = await Promise.all(cases.map((play) => play()));
    expect(outcomes.map(({ faults }) => faults)).toEqual([[], []]);
  } finally {
    await stand.stop();
    await directory.remove();
  }
}, 240_000);
