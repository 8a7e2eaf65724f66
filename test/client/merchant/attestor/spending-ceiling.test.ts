import { afterEach, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { link, mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { spendingCeiling } from "../../../../client/merchant/attestor/spending-ceiling.ts";
import { address } from "../../../../core/domain/address.ts";
import { temporaryDirectory } from "../../../app/support/running-service.ts";

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

test("an escrow that is signed days after its first try counts on the day when it is signed", async () => {
  let now = 1_000_000_000_000;
  const take = spendingCeiling(fresh(), LIMITS, () => now);
  expect(await take("tried", mint, 500n)).toBeNull();
  now += 2 * DAY_MS;
  expect(await take("tried", mint, 500n)).toBeNull();
  expect(await take("b", mint, 500n)).toBeNull();
  expect(await take("c", mint, 1n)).toContain("10.01 TEST within a day");
});

test("entries leave the folder after a week, and no earlier, also when two processes remove them", async () => {
  const folder = fresh();
  let now = 1_000_000_000_000;
  const take = () => spendingCeiling(folder, LIMITS, () => now);
  const files = async () => (await readdir(folder)).length;
  for (let day = 0; day < 30; day++) {
    for (const name of ["one", "two", "three"]) await take()(`${name}-${day}`, mint, 100n);
    expect(await files()).toBe(3 * Math.min(day + 1, 8));
    now += DAY_MS;
  }
  now += 30 * DAY_MS;
  const both = ["a", "b"].map((name) => take()(name, mint, 500n));
  expect(await Promise.all(both)).toEqual([null, null]);
  expect(await files()).toBe(2);
});

test("a file without amount or time stops every signature, because what was spent is not known", async () => {
  const folder = fresh();
  await mkdir(folder);
  const at = new Date().toISOString();
  for (const damaged of [{}, { mint: mint.address, at }, { mint: mint.address, amount: "1" }]) {
    await Bun.write(join(folder, "damaged.json"), JSON.stringify(damaged));
    const refused = await spendingCeiling(folder, LIMITS)("a", mint, 1n).catch((cause) => cause);
    expect(refused).toMatchObject({ code: "journal_damaged" });
  }
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
  // An escrow that another process has just entered. Its entry is a pipe, so the refused call stands still while it
  // counts.
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
