import { expect } from "bun:test";
import { Effect, Exit } from "effect";
import { eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { openIndexOfNode } from "../../simulation/index-of-node.ts";
import type { SettlementChain } from "../../world/settlement-chain.ts";
import { rootOf } from "../../../core/log/tree/frontier.ts";

const ALL = 1_000_000;

/**
 * Checks that the store at a path is complete to a world's count and root, and holds exactly its escrows and events.
 */
export const expectIndexOf = async (path: string, node: SettlementChain): Promise<void> => {
  const index = await openIndexOfNode({ url: "http://127.0.0.1:9", path });
  const read = await index.run(
    IndexReader.use((store) =>
      Effect.all([
        store.escrows({}, ALL, null),
        store.events({}, ALL, { after: 0n }),
        store.summary,
      ]),
    ),
  );
  await index.close();
  if (Exit.isFailure(read)) throw new Error(`${path} cannot be read`);
  const [escrows, events, { mark }] = read.value;
  const expected = [...node.escrows.values()];
  expect(new Map(escrows.map((escrow) => [escrow.address, escrow]))).toEqual(
    new Map(expected.map((escrow) => [escrow.address, escrow])),
  );
  const ids = expected.flatMap((escrow) => eventsOf(escrow).map(({ id }) => id));
  expect(events.map(({ event }) => event.id).sort()).toEqual(ids.sort());
  expect(events.map(({ position }) => position)).toEqual(events.map((_, at) => BigInt(at + 1)));
  expect([mark?.count, mark && rootOf(mark)]).toEqual([
    node.custodyLog.count,
    node.custodyLog.root,
  ]);
};
