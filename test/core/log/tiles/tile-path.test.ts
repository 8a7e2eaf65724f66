import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseTilePath, type Tile, tilePath } from "../../../../core/log/tiles/tile-path.ts";
import { runs } from "../../../arbitraries/runs.ts";

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
