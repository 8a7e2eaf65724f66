import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  fullTilesSince,
  parseTilePath,
  partialTiles,
  type Tile,
  tilePath,
  tileWidthIn,
} from "../../../../core/log/tiles/tile-path.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { decodeEntryBundle, encodeEntryBundle } from "../../../../core/log/tiles/entry-bundle.ts";

const anyTile: fc.Arbitrary<Tile> = fc.record({
  level: fc.oneof(fc.constant("entries" as const), fc.nat(63)),
  index: fc.oneof(fc.nat(1_500), fc.maxSafeNat()),
  width: fc.integer({ min: 1, max: 256 }),
});

test.each([
  [{ level: 0, index: 1_234_067, width: 256 }, "tile/0/x001/x234/067"],
  [{ level: 0, index: 1_234_067, width: 5 }, "tile/0/x001/x234/067.p/5"],
  [{ level: 63, index: 0, width: 255 }, "tile/63/000.p/255"],
  [{ level: "entries", index: 999, width: 256 }, "tile/entries/999"],
  [{ level: "entries", index: 1000, width: 1 }, "tile/entries/x001/000.p/1"],
] as const)("%j is %s", (tile, path) => {
  expect(tilePath(tile)).toBe(path);
  expect(parseTilePath(path)).toEqual(tile);
});

test("print and parse are inverse", () => {
  fc.assert(
    fc.property(anyTile, (tile) => expect(parseTilePath(tilePath(tile))).toEqual(tile)),
    runs(300),
  );
});

test.each([
  "tile/0/0",
  "tile/0/00",
  "tile/0/0000",
  "tile/0/x000/001",
  "tile/0/001/002",
  "tile/0/x001",
  "tile/0/x001/",
  "tile/0/X001/002",
  "tile/00/001",
  "tile/01/001",
  "tile/64/000",
  "tile/-1/000",
  "tile/entries/001.p/256",
  "tile/entries/001.p/0",
  "tile/entries/001.p/01",
  "tile/entries/001.p/",
  "tile/entries/001.p",
  "tile/Entries/001",
  "/tile/0/001",
  "tile/0/001/",
  "tile/0/001\n",
  "tile/0/x999/x999/x999/x999/x999/999",
  "tile/0/x001/x000/x000/x000/x000/x000/000",
  "tile/0/..",
  "",
])("%j is no tile's path", (path) => {
  expect(parseTilePath(path)).toBeUndefined();
});

test("no other text is a tile's path than the one that is printed", () => {
  fc.assert(
    fc.property(
      anyTile,
      fc.nat(),
      fc.constantFrom("0", "1", "x", "/", ".", "p", ""),
      (tile, at, by) => {
        const path = tilePath(tile);
        const i = at % path.length;
        const other = path.slice(0, i) + by + path.slice(i + 1);
        const parsed = parseTilePath(other);
        if (parsed !== undefined) expect(tilePath(parsed)).toBe(other);
      },
    ),
    runs(500),
  );
});

const pathsOf = (size: number) => partialTiles(size).map(tilePath);

const fullOf = (size: number) => [...fullTilesSince(0, size)].map(tilePath);

test("the specification's examples: 70,000 and 256 leaves", () => {
  expect(pathsOf(70_000)).toEqual([
    "tile/entries/273.p/112",
    "tile/0/273.p/112",
    "tile/1/001.p/17",
    "tile/2/000.p/1",
  ]);
  const full = fullOf(70_000);
  expect(full.filter((path) => path.startsWith("tile/0/")).length).toBe(273);
  expect(full.filter((path) => path.startsWith("tile/1/"))).toEqual(["tile/1/000"]);
  expect(full.length).toBe(273 + 273 + 1);
  expect(pathsOf(256)).toEqual(["tile/1/000.p/1"]);
  expect(fullOf(256)).toEqual(["tile/entries/000", "tile/0/000"]);
  expect([pathsOf(0), fullOf(0)]).toEqual([[], []]);
});

test("a tile has what its level has behind the tiles before it", () => {
  const size = 70_000;
  for (const tile of [...partialTiles(size), ...fullTilesSince(0, size)])
    expect(tileWidthIn(tile, size)).toBe(tile.width);
  expect(tileWidthIn({ level: 0, index: 274 }, size)).toBe(0);
  expect(tileWidthIn({ level: 3, index: 0 }, size)).toBe(0);
  expect(tileWidthIn({ level: 63, index: 0 }, Number.MAX_SAFE_INTEGER)).toBe(0);
  expect(tileWidthIn({ level: 0, index: Number.MAX_SAFE_INTEGER }, size)).toBe(0);
});

test("what became full between two sizes is what only the later one has", () => {
  fc.assert(
    fc.property(fc.nat(200_000), fc.nat(200_000), (size, more) => {
      const before = new Set(fullOf(size));
      expect([...fullTilesSince(size, size + more)].map(tilePath)).toEqual(
        fullOf(size + more).filter((path) => !before.has(path)),
      );
    }),
    runs(20),
  );
});

const entries = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 256 });

test("encode and decode are inverse", () => {
  fc.assert(
    fc.property(entries, (leaves) => {
      const bytes = encodeEntryBundle(leaves);
      expect(decodeEntryBundle(bytes, leaves.length)).toEqual({ value: leaves });
      expect(decodeEntryBundle(bytes, leaves.length + 1)).toHaveProperty("fault");
    }),
    runs(50),
  );
});

test("each entry follows its length, two bytes with the higher one first", () => {
  const long = new Uint8Array(0x0102).fill(7);
  expect(encodeEntryBundle([Uint8Array.of(9), new Uint8Array(), long])).toEqual(
    Uint8Array.of(0, 1, 9, 0, 0, 1, 2, ...long),
  );
});

test("a bundle that ends inside a length or an entry is refused", () => {
  expect(decodeEntryBundle(Uint8Array.of(0, 1, 9, 0), 2)).toEqual({ fault: "a length is cut off" });
  expect(decodeEntryBundle(Uint8Array.of(0, 1, 9, 0, 2, 1), 2)).toEqual({
    fault: "an entry is cut off",
  });
});

test("an entry has at most 65,535 bytes", () => {
  const longest = new Uint8Array(65_535);
  expect(decodeEntryBundle(encodeEntryBundle([longest]), 1)).toEqual({ value: [longest] });
  expect(() => encodeEntryBundle([new Uint8Array(65_536)])).toThrow(RangeError);
});
