import { sha256 } from "../../domain/sha256.ts";
import { EVENT_LEAF_LENGTH } from "./event-leaf.ts";

const HEAD_LENGTH = 32;

/** The head before the first event: 32 zero bytes. A new copy each time. */
export const firstHead = (): Uint8Array => new Uint8Array(HEAD_LENGTH);

/** What a link hashes. One buffer for all links: no link outlives its call, and a million of them take 0.3 s. */
const link = new Uint8Array(HEAD_LENGTH + EVENT_LEAF_LENGTH);

/**
 * The head after an event: SHA-256(head || leaf), as `number_event` of programs/custody/ledger-event.h makes it.
 * @throws RangeError unless the head has 32 and the leaf 66 bytes.
 */
export const headAfter = (head: Uint8Array, leaf: Uint8Array): Uint8Array => {
  if (head.length !== HEAD_LENGTH || leaf.length !== EVENT_LEAF_LENGTH)
    throw new RangeError(`no link of ${head.length} and ${leaf.length} bytes`);
  link.set(head);
  link.set(leaf, HEAD_LENGTH);
  return sha256(link);
};

/** The head after events 1 to n, from their leaves in order. Leaf 0 is not among them. */
export const headOf = (
  leaves: Iterable<Uint8Array>,
  head: Uint8Array = firstHead(),
): Uint8Array => {
  let last = head;
  for (const leaf of leaves) last = headAfter(last, leaf);
  return last;
};
