import { expect } from "bun:test";
import { Effect, Exit } from "effect";
import { eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import type { openIndexOfNode } from "../../simulation/index-of-node.ts";

const ALL = 1_000_000;

/** Checks that every escrow a reader sees has all of its events, and that there are no others. */
export const expectWholeBatches = async (
  { run }: Pick<Awaited<ReturnType<typeof openIndexOfNode>>, "run">,
  when: string,
): Promise<void> => {
  const seen = await run(
    EscrowIndex.use((index) =>
      Effect.all([index.escrows({}, ALL, null), index.events({}, ALL, null)]),
    ),
  );
  if (Exit.isFailure(seen)) throw new Error(`${when}: the store cannot be read`);
  const [escrows, events] = seen.value;
  const expected = escrows.flatMap((escrow) => eventsOf(escrow).map(({ id }) => id));
  expect(events.map(({ event }) => event.id).sort(), when).toEqual(expected.sort());
};
