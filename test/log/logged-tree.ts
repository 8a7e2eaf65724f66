import { eventLeafOf } from "../../core/log/leaf/event-leaf.ts";
import { TileBuilder } from "../../core/log/tiles/tile-builder.ts";
import { type Tile, tilePath, tileSource } from "../../core/log/tiles/tile-path.ts";
import { rootAt } from "../../core/log/tree/subtree.ts";
import type { TreeHead } from "../../core/log/tree/tree-edge.ts";
import { ESCROW_STATES } from "../../core/domain/escrow/escrow.ts";
import { sha256 } from "../../core/domain/sha256.ts";

const digestOf = (text: string): Uint8Array => sha256(new TextEncoder().encode(text));

/** The leaf of a number, which test/log/go makes as well. */
export const numberedLeaf = (index: number): Uint8Array =>
  eventLeafOf(
    ESCROW_STATES[index % ESCROW_STATES.length] ?? "Pending",
    digestOf(`escrow ${index}`),
    digestOf(`account ${index}`),
  );

/** The tiles of the first `size` numbered leaves, by their paths, and a source of their hashes. */
export const loggedTree = (size: number) => {
  const tiles = new Map<string, Uint8Array>();
  const builder = new TileBuilder((tile, bytes) => void tiles.set(tilePath(tile), bytes));
  for (let index = 0; index < size; index++) builder.append(numberedLeaf(index));
  builder.writePartials();
  const source = tileSource(size, (tile: Tile) => {
    const bytes = tiles.get(tilePath(tile));
    if (bytes === undefined) throw new Error(`${tilePath(tile)} was not written`);
    return bytes;
  });
  const headAt = (part: number): TreeHead => ({ size: part, root: rootAt(part, source) });
  return { size, tiles, source, head: builder.head(), headAt };
};

/** What `loggedTree` returns. */
export type LoggedTree = ReturnType<typeof loggedTree>;
