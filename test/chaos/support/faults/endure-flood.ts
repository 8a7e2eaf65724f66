import { expect } from "bun:test";
import { Cause, Exit } from "effect";
import type { SyncReport } from "../../../../core/domain/index/sync-report.ts";
import { openIndexOfNode } from "../../../simulation/index-of-node.ts";
import { refundedOf, worldEscrow } from "../../../simulation/world-escrow.ts";
import { worldOf } from "../../../simulation/world.ts";
import { expectIndexOf } from "../expect-index.ts";
import { type Flood, floodWorld, type Manner, openNaming, serveFlooded } from "./junk-flood.ts";

const ESCROWS = 40;

const reportOf = (exit: Exit.Exit<SyncReport, unknown>): SyncReport => {
  if (Exit.isFailure(exit)) throw new Error(`a sync failed: ${Cause.pretty(exit.cause)}`);
  return exit.value;
};

/**
 * Takes an index through a flooded world: its first sync, changes that name junk, and a snapshot with twice the junk
 * after a restart. Checks that no junk is stored and that all junk a node lists is counted. @throws Error when a sync
 * fails.
 */
export const endureFlood = async (
  {
    flood,
    manner,
    path,
  }: { readonly flood: Flood; readonly manner: Manner; readonly path: string },
  random: () => number,
): Promise<void> => {
  const node = worldOf(ESCROWS);
  const { large, ofKind } = floodWorld(node, flood, random);
  const ignores = manner === "ignores filters";
  using served = serveFlooded(node, flood, manner);
  const index = await openIndexOfNode({ url: served.url, path });
  expect(reportOf(await index.sync())).toMatchObject({
    mode: "snapshot",
    escrows: { created: ESCROWS, rejected: ignores ? flood.small : ofKind },
  });

  node.slot += 10n;
  node.putEscrow(refundedOf(worldEscrow(0)));
  const named = large.slice(0, 30);
  openNaming(node, ESCROWS, named);
  node.slot += 10n;
  expect(reportOf(await index.sync())).toMatchObject({
    mode: "incremental",
    escrows: { created: 1, updated: 1, rejected: named.length },
  });
  await index.close();

  const more = floodWorld(node, flood, random);
  node.slot += 10n;
  node.putEscrow(refundedOf(worldEscrow(4)));
  // Without history, the missing event is looked for in a scan.
  node.prune();
  const again = await openIndexOfNode({ url: served.url, path });
  expect(reportOf(await again.sync())).toMatchObject({
    mode: "snapshot",
    escrows: { created: 0, updated: 1, rejected: ignores ? 2 * flood.small : ofKind + more.ofKind },
    vanished: [],
  });
  await again.close();
  await expectIndexOf(path, node);
};
