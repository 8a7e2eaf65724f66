import { Effect } from "effect";
import { ed25519Key } from "../../../../../adapters/signer/ed25519-key.ts";
import { checkpointText } from "../../../../../core/log/checkpoint/checkpoint.ts";
import { noteMessage } from "../../../../../core/log/notes/verify-note.ts";
import { printSignedNote } from "../../../../../core/log/notes/signed-note.ts";
import { verifierKey } from "../../../../../core/log/notes/verifier-key.ts";
import {
  type Tile,
  TILE_WIDTH,
  tilePath,
  tileWidthIn,
} from "../../../../../core/log/tiles/tile-path.ts";
import { consistencyProof } from "../../../../../core/log/tree/tree-proofs.ts";
import { type HashSource, rootAt } from "../../../../../core/log/tree/subtree.ts";
import { HASH_LENGTH, leafHash, nodeHash } from "../../../../../core/log/tree/tree-hash.ts";
import { printAddCheckpoint } from "../../../../../core/log/witness/add-checkpoint.ts";
import { LogUnavailable } from "../../../../../ports/log/log-source.ts";

/** The key pair of a log or witness in tests, by a number in [0, 255]. */
export const testKey = (seed: number) => ed25519Key(new Uint8Array(32).fill(seed));

/** A log over leaves that a test holds and may change: it signs and serves what they are at the time. */
export class SimulatedLog {
  readonly key;
  /** A second key, which signs as well once it is there. */
  second: ReturnType<typeof testKey> | null = null;
  readonly #sign;
  /** Leaf 0 first. */
  leaves: Array<Uint8Array>;
  /** The tiles of the trees up to this size are served. */
  servedSize = 0;
  /** Fails all reads. */
  isDown = false;
  reads = 0;
  /** Whether the log has ended: the checkpoints that it signs are its last. */
  isLast = false;
  /** What is served in place of a tile, by its path. */
  readonly forged = new Map<string, Uint8Array>();

  constructor(origin: string, leaves: ReadonlyArray<Uint8Array>, seed = 1) {
    const { publicKey, sign } = testKey(seed);
    this.key = verifierKey(origin, "ed25519", publicKey);
    this.#sign = sign;
    this.leaves = [...leaves];
  }

  /** The hashes of the tree over the leaves as they are. */
  #source(): HashSource {
    const known = new Map<string, Uint8Array>();
    const hash: HashSource = ({ level, index }) => {
      const name = `${level}/${index}`;
      const found = known.get(name);
      if (found !== undefined) return found;
      const made =
        level === 0
          ? leafHash(this.leaves[index] ?? new Uint8Array())
          : nodeHash(
              hash({ level: level - 1, index: 2 * index }),
              hash({ level: level - 1, index: 2 * index + 1 }),
            );
      known.set(name, made);
      return made;
    };
    return hash;
  }

  root(size: number): Uint8Array {
    return rootAt(size, this.#source());
  }

  /** Any checkpoint signed by this log's key. */
  note(size: number, root: Uint8Array): string {
    const { name, id } = this.key;
    const isLast = this.isLast ? ({ isLast: true } as const) : {};
    const text = checkpointText({ origin: name, size, root, ...isLast });
    const signature = this.#sign(noteMessage(text));
    const signatures = [{ name, id, signature }];
    if (this.second !== null)
      signatures.push({
        name,
        id: verifierKey(name, "ed25519", this.second.publicKey).id,
        signature: this.second.sign(noteMessage(text)),
      });
    return printSignedNote({ text, signatures });
  }

  /** The request that offers the checkpoint of a size, which the log then serves. */
  offer(oldSize: number, size: number): string {
    this.servedSize = Math.max(this.servedSize, size);
    const source = this.#source();
    const proof = oldSize > size ? [] : consistencyProof(oldSize, size, source);
    return printAddCheckpoint({
      oldSize,
      proof,
      checkpoint: this.note(size, rootAt(size, source)),
    });
  }

  readonly tile = (_log: URL, tile: Tile) =>
    Effect.suspend(() => {
      this.reads += 1;
      if (this.isDown) return Effect.fail(new LogUnavailable({ cause: "down" }));
      const forged = this.forged.get(tilePath(tile));
      if (forged !== undefined) return Effect.succeed(forged);
      const { level, index, width } = tile;
      if (level === "entries" || width > tileWidthIn(tile, this.servedSize))
        return Effect.succeed(null);
      const source = this.#source();
      const bytes = new Uint8Array(width * HASH_LENGTH);
      for (let at = 0; at < width; at++) {
        const hash = source({ level: 8 * level, index: index * TILE_WIDTH + at });
        bytes.set(hash, at * HASH_LENGTH);
      }
      return Effect.succeed(bytes);
    });
}
