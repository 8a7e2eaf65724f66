import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Cause, Effect, Exit } from "effect";
import type { SyncReport } from "../../../../core/domain/index/sync-report.ts";
import type { IndexReader } from "../../../../ports/index/index-reader.ts";
import { expectIndexOf } from "../../../chaos/support/expect-index.ts";
import { ChainNode } from "../../../world/chain-node.ts";
import { openIndexOfNode, type Wrap } from "../../../simulation/index-of-node.ts";
import { serveNode } from "../../../simulation/serve-node.ts";
import { worldEscrow } from "../../../simulation/world-escrow.ts";
import type { SettlementChain } from "../../../world/settlement-chain.ts";
import { worldOf } from "../../../simulation/world.ts";
import { tmpdir } from "../../../temporary-root.ts";

const BEFORE = 20;
/** Each has one or two events, 2,275 in all: three pages of a node's history. */
const MISSED = 1300;
/** With some fewer rows a scan would cost less than these events. */
const LARGE = 36_000;

const folder = mkdtempSync(join(tmpdir(), "settlement-long-history-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Adds the events that an index misses. */
const grow = (world: SettlementChain): void => {
  for (let number = BEFORE; number < BEFORE + MISSED; number++) {
    if (number % 10 === 0) world.slot += 1n;
    world.putEscrow(worldEscrow(number));
  }
  world.slot += 100n;
};

/** The reader of an index that says it has this many more escrows. */
const withRows =
  (rows: number): Wrap<IndexReader["Service"]> =>
  (reader) => ({
    ...reader,
    summary: Effect.map(reader.summary, (is) => ({ ...is, escrows: is.escrows + rows })),
  });

const reportOf = (exit: Exit.Exit<SyncReport, unknown>): SyncReport => {
  if (Exit.isFailure(exit)) throw new Error(Cause.pretty(exit.cause));
  return exit.value;
};

describe("a history of 2,275 events", () => {
  const world = worldOf(BEFORE);
  const node = new ChainNode(world);
  let server: ReturnType<typeof serveNode>;
  beforeAll(() => {
    server = serveNode(node.answer);
  });
  afterAll(() => server[Symbol.dispose]());

  const open = (name: string, rows = 0) =>
    openIndexOfNode({
      url: server.url,
      path: join(folder, name, "index.sqlite"),
      reader: withRows(rows),
    });
  const asked = (method: string) => node.asked[method] ?? 0;

  test("that a large index has missed is read page by page, without a scan; a small one takes a scan instead", async () => {
    for (const name of ["large", "small"]) {
      const index = await open(name);
      reportOf(await index.sync());
      await index.close();
    }
    grow(world);
    const events = 2275;
    expect(Number(world.custodyLog.count)).toBe(35 + events);
    for (const [name, rows] of [
      ["large", LARGE],
      ["small", 0],
    ] as const) {
      const before = { scans: asked("getProgramAccounts"), read: asked("getTransaction") };
      const index = await open(name, rows);
      const report = reportOf(await index.sync());
      await index.close();
      expect(report).toMatchObject({ mode: "incremental", eventsAdded: events });
      const scans = asked("getProgramAccounts") - before.scans;
      const read = asked("getTransaction") - before.read;
      // The few that a scan leads to are those of the 32 events that each sync looks for.
      if (name === "large") expect([scans, read >= events]).toEqual([0, true]);
      else expect([scans, read <= 64]).toEqual([2, true]);
      await expectIndexOf(join(folder, name, "index.sqlite"), world);
    }
  }, 120_000);

  test("is built from scans by an index that has nothing", async () => {
    const index = await open("new");
    expect(reportOf(await index.sync())).toMatchObject({ mode: "snapshot", eventsAdded: 2310 });
    await index.close();
    await expectIndexOf(join(folder, "new", "index.sqlite"), world);
  }, 120_000);
});
