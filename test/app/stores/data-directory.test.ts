import { expect, test } from "bun:test";
import { Effect } from "effect";
import { claimDataDirectory } from "../../../app/stores/data-directory.ts";

test("a directory that cannot be made is refused with its path, the cause and the cure", async () => {
  const claimed = Effect.scoped(claimDataDirectory("/dev/null/data"));
  const { path, reason } = await Effect.runPromise(Effect.flip(claimed));
  expect(path).toBe("/dev/null/data");
  expect(reason).toStartWith("it cannot be written (");
  expect(reason).toEndWith("; fix that or set another DATA_DIR");
});
