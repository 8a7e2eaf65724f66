import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
/** A formatter of Markdown turns the lower marks into quotations. */
const MARK = "^(<{7}|>{7}|(> ){6}>) [A-Za-z0-9]";

test("no file holds the marks of an unfinished merge", () => {
  const found = Bun.spawnSync(["git", "grep", "-nE", MARK], { cwd: root });
  // git grep ends with 1 when nothing matches, and with more when it could not look.
  expect([found.exitCode, found.stdout.toString()]).toEqual([1, ""]);
});
