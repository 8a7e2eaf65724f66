import { afterEach, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { link, mkdir, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { spendingCeiling } from "../../../app/attestor/spending-ceiling.ts";
import { address } from "../../../core/domain/address.ts";
import { temporaryDirectory } from "../support/running-service.ts";

const mint = { address: address("11111111111111111111111111111111"), decimals: 2, symbol: "TEST" };
const LIMITS = { per_escrow: "5.00", per_day: "10.00" };
const DAY_MS = 86_400_000;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let folders = 0;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory.remove());
const fresh = () => join(directory.path, `spent-${folders++}`);

test("an escrow counts once, the ceiling holds, and a day later there is room again", async () => {
  const folder = fresh();
  let now = 1_000_000_000_000;
  const take = spendingCeiling(folder, LIMITS, () => now);
  expect(await take("a", mint, 501n)).toContain("ceiling of one escrow");
  expect(await take("a", mint, 500n)).toBeNull();
  expect(await take("a", mint, 500n)).toBeNull();
  expect(await take("b", mint, 500n)).toBeNull();
  expect(await take("c", mint, 1n)).toContain("within a day");
  // What was refused takes no room.
  expect(await take("a", mint, 500n)).toBeNull();
  now += DAY_MS;
  expect(await take("c", mint, 500n)).toBeNull();
});

test("processes at once never exceed it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 12 }), async (all) => {
      const folder = fresh();
      const taken = await Promise.all(
        all.map((units, i) => spendingCeiling(folder, LIMITS)(`e${i}`, mint, BigInt(units))),
      );
      const sum = all
        .filter((_, i) => taken[i] === null)
        .reduce((total, units) => total + units, 0);
      expect(sum).toBeLessThanOrEqual(1000);
    }),
    { numRuns: 15 },
  );
});

test("a process that is refused leaves the place of one that was allowed the same escrow meanwhile", async () => {
  const folder = fresh();
  await mkdir(folder);
  const take = spendingCeiling(folder, LIMITS);
  expect(await take("signed", mint, 500n)).toBeNull();
  // An escrow that another process has just entered. Its entry is a pipe, so the refused call stands still while it counts.
  const [entry, pipe] = [join(folder, "passing.json"), join(directory.path, "pipe")];
  Bun.spawnSync(["mkfifo", pipe]);
  await link(pipe, entry);
  const refused = take("both", mint, 500n);
  const writer = await open(pipe, "w");
  await unlink(entry);
  expect(await take("both", mint, 500n)).toBeNull();
  const passing = { mint: mint.address, amount: "500", at: new Date().toISOString() };
  await writer.writeFile(JSON.stringify(passing));
  await writer.close();
  expect(await refused).toContain("15.00 TEST within a day");
  expect(await take("later", mint, 1n)).toContain("10.01 TEST within a day");
});
