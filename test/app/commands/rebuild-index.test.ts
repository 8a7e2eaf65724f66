import { afterAll, beforeAll, expect, test } from "bun:test";
import { Effect } from "effect";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/rebuild-index.ts";
import { rebuildApprovalFile } from "../../../adapters/files/operator-files.ts";
import { RebuildApprovals } from "../../../ports/index/index-news.ts";
import { temporaryDirectory } from "../support/running-service.ts";
import { runHere } from "../support/run-here.ts";

const [OLD, NEW] = ["01".repeat(32), "02".repeat(32)] as const;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let contradiction: object | null = null;
const service = Bun.serve({
  port: 0,
  fetch: () => Response.json({ data: { indexer: { contradiction } } }),
});
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(async () => {
  await service.stop(true);
  await directory.remove();
});

const run = (...args: ReadonlyArray<string>) => {
  const own = ["--service", service.url.href, "--data-dir", directory.path];
  return runHere((io) => runCommand(main, [...own, ...args], io));
};

const approved = () =>
  Effect.runPromise(
    Effect.flatMap(RebuildApprovals, (read) => read).pipe(
      Effect.provide(rebuildApprovalFile(directory.path)),
    ),
  );

test("it says what differs, and approves only the root that is named", async () => {
  expect((await run()).stderr).toContain("Nothing to approve");
  expect(await run("--accept", "no root")).toMatchObject({
    code: 64,
    stderr: "--accept: expected a root, 64 hex digits\n",
  });
  contradiction = {
    kind: "another_history",
    index: { count: "3", root: OLD },
    ledger: { count: "4", root: NEW },
    first_difference: { from: "1", to: "3" },
  };
  const told = await run();
  expect(told.code).toBe(1);
  expect(told.stdout).toContain(`the ledger shows   4 events, root ${NEW}`);
  expect(told.stdout).toContain("The first event that differs is among 1 to 3.");
  expect(await approved()).toBeNull();
  expect((await run("--accept", OLD)).code).toBe(64);
  expect(await approved()).toBeNull();
  expect(await run("--accept", NEW)).toMatchObject({ code: 0, stderr: "" });
  expect(await approved()).toEqual({ replaces: OLD, by: { count: 4n, root: NEW } } as never);
});

test("a damaged approval approves nothing", async () => {
  for (const text of ["", "{", '{"replaces":1}', `{"replaces":"${OLD}","root":"${NEW}"}`]) {
    await Bun.write(`${directory.path}/rebuild-approved.json`, text);
    expect(await approved()).toBeNull();
  }
});
