import { Effect } from "effect";
import { leavesOfUnseen } from "../../../../log/leaf/indexed-leaves.ts";
import { LogStore } from "../../../../../ports/log/log-store.ts";
import type { HeldEvents } from "./held-events.ts";

/**
 * The first number at or below the range of which a held tombstone shows another creation than the index, null without
 * one. The leaf of a settlement has the digest of bytes that a tombstone does not show: it proves neither the creation's
 * number nor its digest. Fails like the store.
 */
export const deniedCreation = Effect.fn("deniedCreation")(function* (held: HeldEvents) {
  const log = yield* LogStore;
  for (const row of held.changes(held.from, held.to).unseen) {
    const [created] = leavesOfUnseen(row);
    if (created === undefined || created.seq > held.from) continue;
    const [known] = yield* log.leaves(created.seq, 1);
    if (known?.toHex() !== created.leaf.toHex()) return created.seq;
  }
  return null;
});
