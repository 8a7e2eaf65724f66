import { expect } from "bun:test";
import { Effect, Exit } from "effect";
import { chainedEventHash, eventChainStart } from "../../../core/domain/index/event-chain.ts";
import { eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { openIndexOfNode } from "../../simulation/index-of-node.ts";
import type { WorldNode } from "../../simulation/world-node.ts";

const ALL = 1_000_000;

/**
 * Checks that the store at a path holds exactly the escrows of a world, each with its events, in one unbroken chain.
 */
export const expectIndexOf = async (path: string, node: WorldNode): Promise<void> => {
  const index = await openIndexOfNode({ url: "http://127.0.0.1:9", path });
  const read = await index.run(
    EscrowIndex.use((store) =>
      Effect.all([store.escrows({}, ALL, null), store.events({}, ALL, null)]),
    ),
  );
  await index.close();
  if (Exit.isFailure(read)) throw new Error(`${path} cannot be read`);
  const [escrows, events] = read.value;
  const expected = [...node.escrows.values()];
  expect(new Map(escrows.map((escrow) => [escrow.address, escrow]))).toEqual(
    new Map(expected.map((escrow) => [escrow.address, escrow])),
  );
  const ids = expected.flatMap((escrow) => eventsOf(escrow).map(({ id }) => id));
  expect(events.map(({ event }) => event.id).sort()).toEqual(ids.sort());
  let chain = eventChainStart(node.genesisHash, LOCAL_DEPLOYMENT);
  for (const [at, { event, position, chainHash }] of events.toReversed().entries()) {
    chain = chainedEventHash(chain, event);
    expect([position, chainHash]).toEqual([BigInt(at + 1), chain]);
  }
};
