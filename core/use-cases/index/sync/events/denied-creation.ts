import { Effect } from "effect";
import { leavesOfUnseen } from "../../../../log/leaf/indexed-leaves.ts";
import { provedLeaves } from "../../proved-leaves.ts";
import type { HeldEvents } from "./held-events.ts";

/** Escrows per read of the store. */
const BATCH = 1000;

/**
 * The first number at or below the range of which a held tombstone shows another creation than the index, null without
 * one. The leaf of a settlement has the digest of bytes that a tombstone does not show: it proves neither the creation's
 * number nor its digest. Fails like the store.
 */
export const deniedCreation = Effect.fn("deniedCreation")(function* (held: HeldEvents) {
  const shown = held.changes(held.from, held.to).unseen.flatMap((row) => {
    const [created] = leavesOfUnseen(row);
    return created === undefined || created.seq > held.from
      ? []
      : [{ address: row.address, ...created }];
  });
  for (let at = 0; at < shown.length; at += BATCH) {
    const batch = shown.slice(at, at + BATCH);
    const proved = yield* provedLeaves(batch.map(({ address }) => address));
    const known = new Map(proved.map(({ seq, leaf }) => [seq, leaf.toHex()]));
    const denied = batch.find(({ seq, leaf }) => known.get(seq) !== leaf.toHex());
    if (denied !== undefined) return denied.seq;
  }
  return null;
});
