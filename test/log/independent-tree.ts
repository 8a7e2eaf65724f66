import { createHash } from "node:crypto";

/** An event as a simulated ledger notes it: the escrow account's bytes after it. */
export type LedgerEvent = {
  /** The name of the account's state. */
  readonly state: string;
  /** Base58. */
  readonly address: string;
  readonly data: Uint8Array;
};

/** The network whose log is computed. Both base58. */
export type LedgerNetwork = {
  readonly genesisHash: string;
  readonly custodyProgram: string;
};

const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
/** docs/log.md, "Leaves". */
const STATES = ["Pending", "Fulfilled", "Refunded", "PartiallyFulfilled"];

const sha256 = (...parts: ReadonlyArray<Uint8Array>): Buffer => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The 32 bytes of an address. */
const bytesOf = (address: string): Buffer => {
  const number = Array.from(address).reduce(
    (sum, digit) => sum * 58n + BigInt(BASE58.indexOf(digit)),
    0n,
  );
  return Buffer.from(number.toString(16).padStart(64, "0"), "hex");
};

const leafOf = ({ state, address, data }: LedgerEvent): Buffer =>
  Buffer.concat([Buffer.of(1, STATES.indexOf(state)), bytesOf(address), sha256(data)]);

const leafZeroOf = ({ genesisHash, custodyProgram }: LedgerNetwork): Buffer =>
  Buffer.concat([
    Buffer.of(0),
    sha256(Buffer.from("settlement-evidence 3\0"), bytesOf(genesisHash), bytesOf(custodyProgram)),
  ]);

const parent = (left: Buffer, right: Buffer): Buffer => sha256(Buffer.of(1), left, right);

/** The largest power of two below `count`, which is at least 2. */
const split = (count: number): number => 2 ** Math.floor(Math.log2(count - 1));

/**
 * The settlement log of a ledger's own list of events, by docs/log.md and RFC 6962 alone: nothing of it is taken from
 * the code under test.
 */
export class IndependentTree {
  /** Leaf 0 first. */
  readonly leaves: Array<Buffer>;
  /** The root of each size, hex; that of size 1 at 0. */
  readonly roots: Array<string> = [];
  readonly #hashes: Array<Buffer> = [];
  readonly #known = new Map<string, Buffer>();
  readonly #perfect: Array<{ readonly size: number; readonly hash: Buffer }> = [];

  constructor(network: LedgerNetwork, events: ReadonlyArray<LedgerEvent>) {
    this.leaves = [leafZeroOf(network)];
    this.#append(this.leaves[0] ?? Buffer.alloc(0));
    for (const event of events) {
      const leaf = leafOf(event);
      this.leaves.push(leaf);
      this.#append(leaf);
    }
  }

  /** The first 16 hex digits of the SHA-256 of leaf 0. */
  get networkId(): string {
    return sha256(this.leaves[0] ?? Buffer.alloc(0))
      .toString("hex")
      .slice(0, 16);
  }

  /** The hash of a leaf. */
  leafHash(index: number): Buffer {
    return this.#hashes[index] ?? Buffer.alloc(0);
  }

  /** RFC 6962, section 2.1: the root of the leaves `from` to `to`. */
  rootOf(from: number, to: number): Buffer {
    if (to - from === 1) return this.leafHash(from);
    const known = this.#known.get(`${from} ${to}`);
    if (known !== undefined) return known;
    const middle = from + split(to - from);
    const root = parent(this.rootOf(from, middle), this.rootOf(middle, to));
    this.#known.set(`${from} ${to}`, root);
    return root;
  }

  /** RFC 6962, section 2.1.2: the proof that the tree of size `to` begins with that of size `old`, at least 1. */
  consistency(old: number, to: number): ReadonlyArray<Buffer> {
    const sub = (m: number, from: number, end: number, isWhole: boolean): Array<Buffer> => {
      if (m === end - from) return isWhole ? [] : [this.rootOf(from, end)];
      const k = split(end - from);
      return m <= k
        ? [...sub(m, from, from + k, isWhole), this.rootOf(from + k, end)]
        : [...sub(m - k, from + k, end, false), this.rootOf(from, from + k)];
    };
    return sub(old, 0, to, true);
  }

  #append(leaf: Buffer): void {
    let node = { size: 1, hash: sha256(Buffer.of(0), leaf) };
    this.#hashes.push(node.hash);
    for (;;) {
      const left = this.#perfect.at(-1);
      if (left?.size !== node.size) break;
      this.#perfect.pop();
      node = { size: 2 * node.size, hash: parent(left.hash, node.hash) };
    }
    this.#perfect.push(node);
    const root = this.#perfect
      .map(({ hash }) => hash)
      .reduceRight((right, left) => parent(left, right));
    this.roots.push(root.toString("hex"));
  }
}

/** A tree's size and its root in hex. */
export type Head = { readonly size: number; readonly root: string };

/** RFC 9162, section 2.1.4.2: whether a proof leads from one head to a later one, or the heads are equal. */
export const areConsistent = (old: Head, later: Head, proof: ReadonlyArray<Buffer>): boolean => {
  if (old.size === later.size) return old.root === later.root && proof.length === 0;
  const isPowerOfTwo = Number.isInteger(Math.log2(old.size));
  const [first, ...path] = isPowerOfTwo ? [Buffer.from(old.root, "hex"), ...proof] : proof;
  if (first === undefined || path.length === 0) return false;
  let fn = old.size - 1;
  let sn = later.size - 1;
  while (fn % 2 === 1) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  let [fr, sr] = [first, first];
  for (const hash of path) {
    if (sn === 0) return false;
    if (fn % 2 === 1 || fn === sn) {
      [fr, sr] = [parent(hash, fr), parent(hash, sr)];
      while (fn % 2 === 0 && fn !== 0) [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
    } else sr = parent(sr, hash);
    [fn, sn] = [Math.floor(fn / 2), Math.floor(sn / 2)];
  }
  return sn === 0 && fr.toString("hex") === old.root && sr.toString("hex") === later.root;
};
