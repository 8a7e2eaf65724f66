import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { LoggedEvents } from "../../domain/index/sync-report.ts";
import { TreeEdge } from "./tree-edge.ts";
import { HASH_LENGTH, leafHash } from "./tree-hash.ts";

/** Perfect subtrees for which a frontier has room: those of 2^0 to 2^39 leaves. */
const FRONTIER_NODES = 40;

/** The levels of the perfect subtrees of a tree of a size, largest first: the ones in its binary form. */
const levelsOf = (size: number): ReadonlyArray<number> =>
  Array.from(size.toString(2))
    .map((bit, at, bits) => (bit === "1" ? bits.length - 1 - at : -1))
    .filter((level) => level >= 0);

/**
 * The right edge of the log after `count` events, of which the custody program's configuration keeps the frontier: a
 * node for each bit of the tree's size, that of the lowest bit first. Bytes at bits that are not set mean nothing.
 */
export const edgeOf = ({ count, frontier }: LoggedEvents): TreeEdge => {
  const size = Number(count) + 1;
  const nodeAt = (level: number) => frontier.slice(level * HASH_LENGTH, (level + 1) * HASH_LENGTH);
  return new TreeEdge(size, levelsOf(size).map(nodeAt));
};

/** The root of the log after these events: over leaf 0 and a leaf for each of them. */
export const rootOf = (events: LoggedEvents): Hash32 => hash32FromBytes(edgeOf(events).root());

/** The events in a log that has this edge, with zeros at the bits of the frontier that are not set. */
export const eventsIn = (edge: TreeEdge): LoggedEvents => {
  const frontier = new Uint8Array(FRONTIER_NODES * HASH_LENGTH);
  const { roots } = edge;
  for (const [at, level] of levelsOf(edge.size).entries())
    frontier.set(roots[at] ?? [], level * HASH_LENGTH);
  return { count: BigInt(edge.size) - 1n, frontier };
};

/** The log before the first event, which holds leaf 0. */
export const noEvents = (networkLeaf: Uint8Array): LoggedEvents =>
  eventsIn(new TreeEdge(1, [leafHash(networkLeaf)]));
