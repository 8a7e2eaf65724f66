import { expect, test } from "bun:test";
import { Exit } from "effect";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { ChainNode } from "../world/chain-node.ts";
import { dumpOfIndex } from "../simulation/index-dump.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { pendingOf, refundedOf, worldEscrow } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { expectIndexOf } from "./support/expect-index.ts";
import { PAGE_FAULTS, type PageFault, spoilHistory } from "../world/port-faults.ts";

const WORLDS = amountOf({ quick: 6, long: 60 });
const SYNCS = 12;
const REPLAYS = 10;
const ESCROWS = 40;

/** Faults that the first page can have. */
const AT_FIRST: ReadonlyArray<PageFault> = ["reordered", "duplicated", "late"];
const FURTHER_ON: ReadonlyArray<PageFault> = PAGE_FAULTS.filter((fault) => fault !== "late");

/** Syncs one store while its world changes and the pages of history are spoiled, and once more without faults. */
const endure = async (number: number, tally: Record<string, number>): Promise<void> => {
  const when = `seed ${SEED}, world ${number}`;
  const random = randomOf(`pages ${number}`);
  const count = (what: string): void => void (tally[what] = (tally[what] ?? 0) + 1);
  const node = worldOf(ESCROWS);
  using served = serveNode(new ChainNode(node).answer);
  const path = freshPath("pages.sqlite");
  let isSpoiled = true;
  const ledger = spoilHistory((isFirst) => {
    // Pages after the first are few, and some of their faults cause a snapshot: the rarest fault so far is next.
    if (!isSpoiled || random() > (isFirst ? 0.5 : 0.3)) return null;
    const faults = isFirst ? AT_FIRST : FURTHER_ON;
    const times = (fault: PageFault): number => tally[fault] ?? 0;
    const least = Math.min(...faults.map(times));
    const rarest = faults.filter((fault) => times(fault) === least);
    const fault = rarest[Math.floor(random() * rarest.length)] ?? null;
    if (fault !== null) count(fault);
    return fault;
  });
  const open = () => openIndexOfNode({ url: served.url, path, ledger });
  let index = await open();
  const sync = async (): Promise<void> => {
    const exit = await index.sync();
    if (Exit.isFailure(exit)) throw new Error(`${when}: the sync failed`);
    expect(exit.value.rejected, when).toEqual([]);
    count(exit.value.mode);
  };
  // A restarted process has an empty memory.
  const startAgain = async (): Promise<void> => {
    await index.close();
    index = await open();
  };

  await sync();
  for (let round = 0; round < SYNCS; round++) {
    for (let changes = 1 + Math.floor(random() * 12); changes > 0; changes--) {
      node.slot += BigInt(Math.floor(random() * 4));
      const some = worldEscrow(Math.floor(random() * node.escrows.size));
      if (random() < 0.5) node.putEscrow(pendingOf(worldEscrow(node.escrows.size)));
      else if (node.escrows.get(some.address)?.state === "Pending")
        node.putEscrow(refundedOf(pendingOf(some)));
    }
    node.slot += 1n;
    if (random() < 0.3) await startAgain();
    await sync();
  }
  isSpoiled = false;
  node.slot += 1n;
  await sync();
  await expectIndexOf(path, node);
  const withoutReference = () =>
    index.run(
      IndexReader.use((store) => store.events({ withoutTransaction: true }, 1, { after: 0n })),
    );
  for (let more = 0; more < 20; more++) {
    const left = await withoutReference();
    if (Exit.isSuccess(left) && left.value.length === 0) break;
    await startAgain();
    await sync();
  }
  const events = await index.run(
    IndexReader.use((store) => store.events({}, 100_000, { before: null })),
  );
  if (Exit.isFailure(events)) throw new Error(`${when}: the store cannot be read`);
  for (const { event, signature, slot } of events.value) {
    const known = node.transactions.find((one) => one.signature === signature);
    expect(known?.accounts, when).toContain(event.escrow);
    expect(slot, when).toBe(known?.slot ?? -1n);
  }

  // A merchant's row has the slot of its newest observation: let that be the last slot, by a snapshot.
  node.firstSlot = node.slot;
  await startAgain();
  await sync();
  node.firstSlot = 0n;
  const before = dumpOfIndex(path, { references: true });
  isSpoiled = true;
  for (let replay = 0; replay < REPLAYS; replay++) {
    if (replay % 2 === 0) await startAgain();
    await sync();
    expect(dumpOfIndex(path, { references: true }) === before, `${when}, replay ${replay}`).toBe(
      true,
    );
  }
  await index.close();
  await expectIndexOf(path, node);
};

test(
  "missing, unordered, double, repeated or late pages of history change nothing in the end, and neither does reading them again",
  async () => {
    const tally: Record<string, number> = {};
    for (let number = 0; number < WORLDS; number++) await endure(number, tally);
    tell(`${WORLDS} worlds: ${JSON.stringify(tally)}`);
    for (const what of [...PAGE_FAULTS, "snapshot", "incremental"])
      expect(tally[what] ?? 0, `seed ${SEED}: ${what}`).toBeGreaterThan(0);
  },
  LONG_MS,
);
