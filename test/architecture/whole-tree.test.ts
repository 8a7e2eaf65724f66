import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

const CLOCK = "test/doubles/patient-clock.ts";
/** Not written as it is looked for, so that this file is not found itself. */
const MAKES_ONE = `TestClock[.](layer|make)[(]`;

test("virtual time waits for the fibers that it woke in every test, however busy the machine is", () => {
  const found = Bun.spawnSync(["git", "grep", "-lE", MAKES_ONE, "--", "test"], { cwd: root });
  expect(found.stdout.toString().trim().split("\n")).toEqual([CLOCK]);
});

/** A formatter of Markdown turns the lower marks into quotations. */
const MARK = "^(<{7}|>{7}|(> ){6}>) [A-Za-z0-9]";

test("no file holds the marks of an unfinished merge", () => {
  const found = Bun.spawnSync(["git", "grep", "-nE", MARK], { cwd: root });
  // git grep ends with 1 when nothing matches, and with more when it could not look.
  expect([found.exitCode, found.stdout.toString()]).toEqual([1, ""]);
});
