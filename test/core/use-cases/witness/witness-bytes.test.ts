import { expect, test } from "bun:test";
import { Effect } from "effect";
import { eventsIn } from "../../../../core/log/tree/frontier.ts";
import { rootAt, subtreesOf } from "../../../../core/log/tree/subtree.ts";
import { TreeEdge } from "../../../../core/log/tree/tree-edge.ts";
import {
  rootOfFullTile,
  type Tile,
  TILE_WIDTH,
  tileSource,
  tileWidthIn,
} from "../../../../core/log/tiles/tile-path.ts";
import { consistencyProof } from "../../../../core/log/tree/tree-proofs.ts";
import { HASH_LENGTH } from "../../../../core/log/tree/tree-hash.ts";
import { printAddCheckpoint } from "../../../../core/log/witness/add-checkpoint.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { ORIGIN, say, WitnessWorld } from "./support/witness-world.ts";

const MILLION = 1_000_000;
/** A tile of tiles more, so that sizes from a million on end at any place of a tile and of the one above it. */
const LEAVES = MILLION + TILE_WIDTH * TILE_WIDTH + 10_000;
const MOST_BYTES = 40_000;
const OFFERS = Number(process.env["WITNESS_OFFERS"] ?? 50);
/** Events between the log's read of the ledger and the witness's: two minutes of 50 a second at most. */
const MOST_BETWEEN = 6000;

/** The hashes of each level of tiles, one behind another: made-up ones of the leaves, and what they give above. */
const LEVELS = (() => {
  let hashes = new Uint8Array(LEAVES * HASH_LENGTH);
  const words = new Uint32Array(hashes.buffer);
  for (let at = 0; at < words.length; at++) words[at] = Math.imul(at + 1, 0x9e3779b1);
  const levels = [hashes];
  while (hashes.length > TILE_WIDTH * HASH_LENGTH) {
    const width = TILE_WIDTH * HASH_LENGTH;
    const above = new Uint8Array(Math.floor(hashes.length / width) * HASH_LENGTH);
    for (let at = 0; at < above.length / HASH_LENGTH; at++)
      above.set(rootOfFullTile(hashes.subarray(at * width, (at + 1) * width)), at * HASH_LENGTH);
    levels.push(above);
    hashes = above;
  }
  return levels;
})();

const tileBytes = ({ level, index, width }: Tile): Uint8Array => {
  if (level === "entries") throw new Error("nobody needs the entries");
  const first = index * TILE_WIDTH * HASH_LENGTH;
  return (LEVELS[level] ?? new Uint8Array()).slice(first, first + width * HASH_LENGTH);
};
const sourceAt = (size: number) => tileSource(size, tileBytes);

/** The ledger's account of a size. */
const loggedAt = (size: number) => {
  const roots = subtreesOf({ from: 0, to: size }).map(sourceAt(size));
  return eventsIn(new TreeEdge(size, roots));
};

/** A log and a ledger of that tree, and what a witness has read of them. */
class MillionWorld extends WitnessWorld {
  tileBytesRead = 0;

  constructor() {
    super(ORIGIN);
    Object.assign(this.log, {
      tile: (_url: URL, tile: Tile) =>
        Effect.sync(() => {
          if (tile.width > tileWidthIn(tile, this.log.servedSize)) return null;
          const bytes = tileBytes(tile);
          this.tileBytesRead += bytes.length;
          return bytes;
        }),
    });
  }

  body(oldSize: number, size: number): string {
    const source = sourceAt(size);
    const proof = consistencyProof(oldSize, size, source);
    const checkpoint = this.log.note(size, rootAt(size, source));
    return printAddCheckpoint({ oldSize, proof, checkpoint });
  }
}

/** Bytes of the configuration account. */
const ACCOUNT_BYTES = 1368;

/** What a witness reads to cosign at a million events or some more: for the first time, or again after a restart. */
const read = async (random: () => number, isFirst: boolean): Promise<number> => {
  const below = (n: number): number => Math.floor(random() * n);
  const world = new MillionWorld();
  const size = MILLION + below(TILE_WIDTH * TILE_WIDTH);
  const shown = size + 1 + below(MOST_BETWEEN);
  const old = isFirst ? 0 : size - 1 - below(MILLION / 2);
  return world.run(function* () {
    if (old > 0) {
      world.nodeEvents = () => loggedAt(old);
      expect(yield* say(yield* world.witness, world.body(0, old))).toBe("cosigned");
    }
    // Another process: it remembers no root of its node.
    world.nodeEvents = () => loggedAt(shown);
    world.log.servedSize = shown;
    world.tileBytesRead = 0;
    const body = world.body(old, size);
    expect(yield* say(yield* world.witness, body)).toBe("cosigned");
    expect(world.tileBytesRead).toBeGreaterThan(0);
    return body.length + ACCOUNT_BYTES + world.tileBytesRead;
  });
};

test.each([
  ["the first time", true],
  ["after a restart", false],
])(
  "at a million events a witness whose node is ahead reads less than 40 kB to cosign: %s",
  async (_, isFirst) => {
    const random = seededRandom(1);
    const bytes: Array<number> = [];
    for (let at = 0; at < OFFERS; at++) bytes.push(await read(random, isFirst));
    const mean = bytes.reduce((sum, each) => sum + each, 0) / OFFERS;
    console.log(
      `${OFFERS} offers, bytes read: mean ${Math.round(mean)}, most ${Math.max(...bytes)}`,
    );
    expect(Math.max(...bytes)).toBeLessThan(MOST_BYTES);
    expect(mean).toBeLessThan(25_000);
  },
  60_000,
);
