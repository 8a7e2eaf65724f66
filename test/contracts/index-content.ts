import { Effect } from "effect";
import type { Index } from "./fresh-index.ts";

/** Everything that a reader can see of an index, but for its revision. */
export const everything = ({ reader, writer, log }: Index) =>
  Effect.all({
    escrows: reader.escrows({}, 1000, null),
    events: reader.events({}, 1000, { before: null }),
    forward: reader.events({}, 1000, { after: 0n }),
    untold: reader.events({ withoutTransaction: true }, 1000, { after: 0n }),
    merchants: reader.merchants({}, 1000, null),
    unseen: writer.unseen(1000, 0n),
    leaves: Effect.map(log.leaves(1n, 1000), (leaves) => leaves.map((leaf) => leaf.toHex())),
    summary: Effect.map(reader.summary, ({ escrows, unseen, merchants, mark }) => ({
      escrows,
      unseen,
      merchants,
      mark,
    })),
  });
