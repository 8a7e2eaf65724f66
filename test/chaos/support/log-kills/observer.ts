import { expect } from "bun:test";
import { Database } from "bun:sqlite";
import { createPrivateKey, createPublicKey, verify } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SettlementChain } from "../../../world/settlement-chain.ts";
import { areConsistent, type Head, IndependentTree } from "../../../log/independent-tree.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { freshPath } from "../chaos-run.ts";

/** What precedes the 32 bytes of an Ed25519 seed in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex");
const TILE_WIDTH = 256;

/**
 * A copy of a database's files, gone when it is disposed of: opening it leaves the original as the killed process left
 * it.
 */
const copyOf = (path: string): { readonly path: string } & Disposable => {
  const copy = freshPath("copy.sqlite");
  mkdirSync(dirname(copy), { recursive: true });
  for (const part of ["", "-wal"])
    if (existsSync(path + part)) copyFileSync(path + part, copy + part);
  return {
    path: copy,
    [Symbol.dispose]: () => rmSync(dirname(copy), { recursive: true }),
  };
};

/** Collects from outside every head that a log's processes let anybody see, and checks it against the ledger. */
export class LogObserver {
  readonly #heads = new Map<number, string>();
  readonly #folder: string;
  readonly #node: SettlementChain;
  readonly #publicKey;

  constructor(folder: string, node: SettlementChain, seed: Buffer) {
    this.#folder = folder;
    this.#node = node;
    const key = { key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" } as const;
    this.#publicKey = createPublicKey(createPrivateKey(key));
  }

  /** How many different sizes were signed. */
  get sizes(): number {
    return this.#heads.size;
  }

  /** The log by the ledger's own list of events. */
  tree(): IndependentTree {
    const { genesisHash, custodyLog } = this.#node;
    return new IndependentTree({ genesisHash, ...LOCAL_DEPLOYMENT }, custodyLog.events);
  }

  /**
   * Checks what a process left, killed or not: its signatures, the files beside the key and in the store, and the
   * tiles.
   */
  look(signed: ReadonlyArray<string>, when: string): void {
    const tree = this.tree();
    for (const text of signed) this.#see(tree, this.#headIn(text, tree, when), when);
    const memory = this.#memory(when);
    const standing = this.#standing(when);
    if (memory !== null) this.#see(tree, memory, when);
    if (standing !== null) {
      this.#see(tree, standing.signed, when);
      if (standing.published !== null)
        this.#see(tree, this.#published(standing.published, tree, when), when);
    }
    // Nothing is shown before it is remembered beside the key.
    const shown = signed.map((text) => this.#headIn(text, tree, when).size);
    for (const size of shown) expect(memory?.size ?? 0, when).toBeGreaterThanOrEqual(size);
    this.#checkTiles(tree, Math.max(0, ...shown, this.#publishedSize(when)), when);
  }

  /** Checks that any two heads that were ever seen are of one tree, by consistency proofs. */
  expectConsistent(when: string): void {
    const tree = this.tree();
    const heads = [...this.#heads]
      .map(([size, root]): Head => ({ size, root }))
      .sort((a, b) => a.size - b.size);
    for (const [at, old] of heads.entries())
      for (const later of heads.slice(at))
        expect(areConsistent(old, later, tree.consistency(old.size, later.size)), when).toBe(true);
  }

  /** Checks that the published checkpoint is the ledger's last one. */
  expectPublishedToTheEnd(when: string): void {
    const tree = this.tree();
    const published = this.#standing(when)?.published;
    if (published === null || published === undefined) throw new Error(`${when}: not published`);
    const head = { size: tree.leaves.length, root: tree.roots.at(-1) ?? "" };
    expect(this.#published(published, tree, when), when).toEqual(head);
  }

  #see(tree: IndependentTree, { size, root }: Head, when: string): void {
    expect(this.#heads.get(size) ?? root, `${when}: the root of size ${size}`).toBe(root);
    this.#heads.set(size, root);
    expect(root, `${when}: the root of size ${size}`).toBe(tree.roots[size - 1] ?? "");
  }

  #headIn(text: string, tree: IndependentTree, when: string): Head {
    const [origin, size, root, ...rest] = text.split("\n");
    expect(origin, when).toBe(`log.example/log/${tree.networkId}/0`);
    expect(rest, when).toEqual([""]);
    return { size: Number(size), root: Buffer.from(root ?? "", "base64").toString("hex") };
  }

  /** The head of a signed note, whose signature is the log key's. */
  #published(note: string, tree: IndependentTree, when: string): Head {
    const end = note.indexOf("\n\n") + 1;
    const signature = Buffer.from(note.slice(end).trim().split(" ")[2] ?? "", "base64");
    const text = note.slice(0, end);
    expect(verify(null, Buffer.from(text), this.#publicKey, signature.subarray(4)), when).toBe(
      true,
    );
    return this.#headIn(text, tree, when);
  }

  #memory(when: string): Head | null {
    const path = join(this.#folder, "log-key.signed.json");
    if (!existsSync(path)) return null;
    const { signed, ended } = JSON.parse(readFileSync(path, "utf8")) as {
      readonly signed: Head;
      readonly ended: string | null;
    };
    expect(ended, when).toBeNull();
    return signed;
  }

  #standing(when: string): { readonly signed: Head; readonly published: string | null } | null {
    const path = join(this.#folder, "index.sqlite.log", "standing.sqlite");
    if (!existsSync(path)) return null;
    using copy = copyOf(path);
    using db = new Database(copy.path);
    expect(db.query("PRAGMA integrity_check").all(), when).toEqual([{ integrity_check: "ok" }]);
    const hasTable = db.query("SELECT 1 FROM sqlite_master WHERE name = 'log_standing'").get();
    const row =
      hasTable === null
        ? null
        : db.query<{ text: string }, []>("SELECT text FROM log_standing").get();
    return row !== null
      ? (JSON.parse(row.text) as { signed: Head; published: string | null })
      : null;
  }

  #publishedSize(when: string): number {
    return Number(this.#standing(when)?.published?.split("\n")[1] ?? 0);
  }

  /** Every tile file is whole and the ledger's, and every full tile of a size that was shown is there. */
  #checkTiles(tree: IndependentTree, shownSize: number, when: string): void {
    const folder = join(this.#folder, "index.sqlite.log", "0", "tile");
    const expected = new Map<string, Buffer>();
    for (let first = 0; first + TILE_WIDTH <= tree.leaves.length; first += TILE_WIDTH) {
      const name = String(first / TILE_WIDTH).padStart(3, "0");
      const leaves = tree.leaves.slice(first, first + TILE_WIDTH);
      const entries = leaves.flatMap((leaf) => [
        Buffer.of(leaf.length >> 8, leaf.length & 255),
        leaf,
      ]);
      expected.set(`entries/${name}`, Buffer.concat(entries));
      const hashes = leaves.map((_, at) => tree.leafHash(first + at));
      expected.set(`0/${name}`, Buffer.concat(hashes));
    }
    for (const level of ["entries", "0"]) {
      const files = existsSync(join(folder, level)) ? readdirSync(join(folder, level)) : [];
      for (const file of files.filter((name) => !name.endsWith(".new"))) {
        const bytes = readFileSync(join(folder, level, file));
        expect(
          bytes.equals(expected.get(`${level}/${file}`) ?? Buffer.alloc(0)),
          `${when}: ${level}/${file}`,
        ).toBe(true);
      }
      for (let tile = 0; (tile + 1) * TILE_WIDTH <= shownSize; tile++)
        expect(files, when).toContain(String(tile).padStart(3, "0"));
    }
  }
}
