import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  fullTilesSince,
  partialTiles,
  tilePath,
  tileWidthIn,
} from "../../../../core/log/tiles/tile-path.ts";
import { runs } from "../../../arbitraries/runs.ts";

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
