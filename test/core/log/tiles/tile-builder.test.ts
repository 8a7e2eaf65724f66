import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeEntryBundle } from "../../../../core/log/tiles/entry-bundle.ts";
import { TileBuilder } from "../../../../core/log/tiles/tile-builder.ts";
import {
  fullTilesSince,
  partialTiles,
  type Tile,
  tilePath,
  tilesOfRanges,
  tileSource,
} from "../../../../core/log/tiles/tile-path.ts";
import {
  consistencyPath,
  consistencyProof,
  inclusionPath,
  inclusionProof,
  verifyConsistency,
  verifyInclusion,
} from "../../../../core/log/tree/tree-proofs.ts";
import { hashOfRange, rootAt } from "../../../../core/log/tree/subtree.ts";
import { TreeEdge } from "../../../../core/log/tree/tree-edge.ts";
import { leafHash } from "../../../../core/log/tree/tree-hash.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { someLeaves } from "../support/reference-tree.ts";

/** More than one full tile at level 1. */
const SIZE = 66_500;
const LEAVES = someLeaves(SIZE);
const HASHES = LEAVES.map(leafHash);

const filed = () => {
  const files = new Map<string, Uint8Array>();
  return {
    files,
    sink: (tile: Tile, bytes: Uint8Array) => void files.set(tilePath(tile), bytes),
    read: (tile: Tile): Uint8Array => {
      const bytes = files.get(tilePath(tile));
      if (bytes === undefined) throw new Error(`${tilePath(tile)} was not written`);
      return bytes;
    },
  };
};

const built = (leaves: ReadonlyArray<Uint8Array>) => {
  const out = filed();
  const builder = new TileBuilder(out.sink);
  for (const leaf of leaves) builder.append(leaf);
  builder.writePartials();
  return { ...out, head: builder.head() };
};

const rootOf = (size: number): Uint8Array => {
  const edge = new TreeEdge();
  for (const hash of HASHES.slice(0, size)) edge.append(hash);
  return edge.root();
};

const whole = built(LEAVES);

test("the builder writes the tiles of the size, each once with its width, and knows the root", () => {
  const tiles = [...fullTilesSince(0, SIZE), ...partialTiles(SIZE)];
  expect([...whole.files.keys()].sort()).toEqual(tiles.map(tilePath).sort());
  for (const tile of tiles)
    if (tile.level === "entries")
      expect(decodeEntryBundle(whole.read(tile), tile.width)).toEqual({
        value: LEAVES.slice(tile.index * 256, tile.index * 256 + tile.width),
      });
    else {
      const span = 256 ** tile.level;
      expect(whole.read(tile).length).toBe(32 * tile.width);
      const last = tile.index * 256 + tile.width - 1;
      expect(whole.read(tile).subarray(-32)).toEqual(
        hashOfRange({ from: last * span, to: (last + 1) * span }, memory),
      );
    }
  expect(whole.head).toEqual({ size: SIZE, root: rootOf(SIZE) });
});

/** The subtrees' hashes by appending their leaves. */
const memory = ({ level, index }: { level: number; index: number }): Uint8Array => {
  const edge = new TreeEdge();
  for (const hash of HASHES.slice(index * 2 ** level, (index + 1) * 2 ** level)) edge.append(hash);
  return edge.root();
};

test("proofs from tiles verify, and need only the tiles that are named for them", () => {
  fc.assert(
    fc.property(fc.nat(SIZE - 1), fc.integer({ min: 1, max: SIZE }), (index, old) => {
      const needed = new Set(
        tilesOfRanges(
          [...inclusionPath(index, SIZE), ...consistencyPath(old, SIZE), { from: 0, to: old }],
          SIZE,
        ).map(tilePath),
      );
      const source = tileSource(SIZE, (tile) => {
        expect(needed.has(tilePath(tile))).toBe(true);
        return whole.read(tile);
      });
      const claim = { index, leafHash: HASHES[index] ?? new Uint8Array(), head: whole.head };
      expect(verifyInclusion(claim, inclusionProof(index, SIZE, source))).toBe(true);
      const oldHead = { size: old, root: rootAt(old, source) };
      expect(verifyConsistency(oldHead, whole.head, consistencyProof(old, SIZE, source))).toBe(
        true,
      );
    }),
    runs(60),
  );
});

/** Builds `size` leaves, goes on from what was stored with `more`, and compares with one pass. */
const expectSameInTwoPasses = (size: number, more: number): void => {
  const first = built(LEAVES.slice(0, size));
  const builder = new TileBuilder(first.sink, { size, read: first.read });
  expect(builder.head()).toEqual(first.head);
  for (const leaf of LEAVES.slice(size, size + more)) builder.append(leaf);
  builder.writePartials();
  const once = built(LEAVES.slice(0, size + more));
  expect(builder.head()).toEqual(once.head);
  for (const [path, bytes] of once.files)
    expect([path, Bun.hash(first.files.get(path) ?? "")]).toEqual([path, Bun.hash(bytes)]);
};

test("a builder that goes on from stored partial tiles writes what one pass writes", () => {
  fc.assert(fc.property(fc.nat(600), fc.nat(600), expectSameInTwoPasses), runs(20));
});

test("so does one whose open tiles of two levels fill at once", () => {
  expectSameInTwoPasses(65_535, 700);
});

test("a partial tile of another length is refused", () => {
  const { read, sink } = built(LEAVES.slice(0, 300));
  const short = (level: Tile["level"]) => (tile: Tile) =>
    tile.level === level ? read(tile).slice(1) : read(tile);
  for (const level of ["entries", 0, 1] as const)
    expect(() => new TileBuilder(sink, { size: 300, read: short(level) })).toThrow(RangeError);
  const source = tileSource(300, short(0));
  expect(() => source({ level: 0, index: 299 })).toThrow(RangeError);
  expect(() => tileSource(300, read)({ level: 0, index: 300 })).toThrow(RangeError);
});
