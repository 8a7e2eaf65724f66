import { expect } from "bun:test";
import { Effect, Exit } from "effect";
import { eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import type { openIndexOfNode } from "../../simulation/index-of-node.ts";

const ALL = 1_000_000;

/** Checks that a reader sees nothing without a mark, and with one every event up to its count, once, and no others. */
export const expectWholeBatches = async (
  { run }: Pick<Awaited<ReturnType<typeof openIndexOfNode>>, "run">,
  when: string,
): Promise<void> => {
  const seen = await run(
    IndexReader.use((index) =>
      Effect.all([
        index.escrows({}, ALL, null),
        index.events({}, ALL, { after: 0n }),
        index.summary,
      ]),
    ),
  );
  if (Exit.isFailure(seen)) throw new Error(`${when}: the store cannot be read`);
  const [escrows, events, { mark }] = seen.value;
  const expected = escrows.flatMap((escrow) => eventsOf(escrow).map(({ id }) => id));
  expect(events.map(({ event }) => event.id).sort(), when).toEqual(expected.sort());
  expect(BigInt(events.length), when).toBe(mark?.count ?? 0n);
  expect(
    events.map(({ position }) => position),
    when,
  ).toEqual(events.map((_, at) => BigInt(at + 1)));
};
