import { expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { sourceRevision } from "../../../app/lifecycle/started-instance.ts";

const MODULE = fileURLToPath(
  new URL("../../../app/lifecycle/started-instance.ts", import.meta.url),
);

test("the revision is known also to a user that does not own the clone, as the service's is", () => {
  const script = `console.log((await import(${JSON.stringify(MODULE)})).sourceRevision())`;
  // Git has this variable for its own tests of what it refuses.
  const env = { ...process.env, GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script], { env });
  expect(stdout.toString().trim()).toBe(String(sourceRevision()));
});
