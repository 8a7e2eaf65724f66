import { expect, test } from "bun:test";

const CLOCK = "test/doubles/patient-clock.ts";
/** Not written as it is looked for, so that this file is not found itself. */
const MAKES_ONE = `TestClock[.](layer|make)[(]`;

test("virtual time waits for the fibers that it woke in every test, however busy the machine is", () => {
  const root = `${import.meta.dir}/../..`;
  const found = Bun.spawnSync(["git", "grep", "-lE", MAKES_ONE, "--", "test"], { cwd: root });
  expect(found.stdout.toString().trim().split("\n")).toEqual([CLOCK]);
});
