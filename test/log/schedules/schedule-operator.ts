import { expect } from "bun:test";
import { Effect } from "effect";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { type Hash32, hash32FromBytes } from "../../../core/domain/hash32.ts";
import { parseCheckpoint } from "../../../core/log/checkpoint/checkpoint.ts";
import {
  ENDED_BY_OPERATOR,
  type LogStanding,
  parseLogStanding,
  signingKeysOf,
} from "../../../core/use-cases/log/log-standing.ts";
import { isSignedBy } from "../../../core/use-cases/log/signing/key-rotation.ts";
import type { LogKey } from "../../../ports/log/log-signer.ts";
import { logKeyOf, signingKeyOf } from "../../doubles/log-key.ts";

/** Keys that a schedule's log may have in its life: the first, and that of each rotation. */
const MOST_KEYS = 6;
const seedOf = (number: number): Uint8Array => new Uint8Array(32).fill(1 + number);
const publicKeyOf = (number: number): Uint8Array => ed25519Key(seedOf(number)).publicKey;

/** The public keys that the log's witnesses know: all that it can ever have. */
export const LOG_PUBLIC_KEYS = Array.from({ length: MOST_KEYS }, (_, number) =>
  publicKeyOf(number),
);

/** The checkpoint to which a log has come at rest: its size, and whether it is the last one of a log that ended. */
export type LastHead = { readonly size: number; readonly isLast: boolean };

/** What one replica has on its machine: the key's number, that of the second one, and the file beside them. */
type KeyFiles = {
  readonly first: number;
  readonly next: number | null;
  readonly text: string | null;
};

/**
 * The operator of a schedule's log. It rotates keys by the rules of `log rotate-key` and `log retire-key`, replica by
 * replica, and may end the log.
 */
export class ScheduleOperator {
  rotated = 0;
  retired = 0;
  #files: ReadonlyArray<KeyFiles>;
  /** The origin of the log that is to end, null while it is to go on. */
  #endOrdered: string | null = null;
  readonly #below: (n: number) => number;

  constructor(replicas: number, below: (n: number) => number) {
    this.#files = Array.from({ length: replicas }, () => ({ first: 0, next: null, text: null }));
    this.#below = below;
  }

  #of(replica: number): KeyFiles {
    const files = this.#files[replica];
    if (files === undefined) throw new Error(`there is no replica ${replica}`);
    return files;
  }

  #change(replica: number, change: Partial<KeyFiles>): void {
    this.#files = this.#files.map((files, at) =>
      at === replica ? { ...files, ...change } : files,
    );
  }

  /** The log's key as a replica has it; `signed` gets each text before it is signed. */
  keyOf(replica: number, signed: (text: string) => void): LogKey {
    const note = (message: Uint8Array): void => signed(new TextDecoder().decode(message));
    const read = () => this.#of(replica).text;
    const write = (text: string | null): void => this.#change(replica, { text });
    const file = {
      get text() {
        return read();
      },
      set text(text: string | null) {
        write(text);
      },
    };
    return {
      ...logKeyOf(seedOf(0), file),
      keys: Effect.sync(() => {
        const { first, next } = this.#of(replica);
        const key = signingKeyOf(seedOf(first), note);
        return next === null
          ? ([key] as const)
          : ([key, signingKeyOf(seedOf(next), note)] as const);
      }),
      endOrdered: Effect.sync(() => this.#endOrdered),
    };
  }

  /** Whether it has ordered the log's end. */
  get isToEnd(): boolean {
    return this.#endOrdered !== null;
  }

  /** Whether the log's end stands beside a key. */
  get hasEnded(): boolean {
    return this.#standings.some((standing) => standing?.ended === ENDED_BY_OPERATOR);
  }

  get #standings(): ReadonlyArray<LogStanding | undefined> {
    return this.#files.map(({ text }) => (text === null ? undefined : parseLogStanding(text)));
  }

  /** A copy of the keys and of what stands beside them. */
  get copy(): ReadonlyArray<KeyFiles> {
    return this.#files;
  }

  /** Takes all of them back to a copy. */
  restore(copy: ReadonlyArray<KeyFiles>): void {
    this.#files = copy;
  }

  /** Begins a rotation, copies its key to a replica that lacks it, retires the old one, ends the log, or does nothing. */
  stir(): void {
    if (this.#endOrdered !== null) return;
    const standings = this.#standings;
    const origin = standings.find((each) => each !== undefined)?.signed.origin;
    if (origin === undefined) return;
    if (this.#below(12) === 0) {
      this.#endOrdered = origin;
      return;
    }
    const newest = this.#newest;
    const isOverlap = this.#files.some(({ first }) => first !== newest);
    const isFinished = this.#files.every(({ first, next }) => first === newest && next === null);
    if (isFinished && newest + 1 < MOST_KEYS && this.#below(2) === 0) {
      this.rotated += 1;
      for (const replica of this.#files.keys())
        if (replica === 0 || this.#below(3) > 0) this.#change(replica, { next: newest + 1 });
    } else if (isOverlap) {
      const lacking = this.#files.findIndex(({ first, next }) => first !== newest && next === null);
      if (lacking >= 0) this.#change(lacking, { next: newest });
      else
        for (const [replica, standing] of standings.entries()) {
          const key = hash32FromBytes(publicKeyOf(newest));
          const isSigning = standing !== undefined && signingKeysOf(standing).includes(key);
          if (this.#of(replica).first === newest || !isSigning || this.#below(2) === 0) continue;
          this.#change(replica, { first: newest, next: null });
          this.retired += 1;
        }
    }
  }

  /** The newest key that a replica has. */
  get #newest(): number {
    return Math.max(...this.#files.map(({ first, next }) => next ?? first));
  }

  /** Copies the newest key to each replica that lacks it: a log's checkpoint lacks its line while one of them signs. */
  completeKeys(): void {
    const newest = this.#newest;
    for (const [replica, { first, next }] of this.#files.entries())
      if (first !== newest && next !== newest) this.#change(replica, { next: newest });
  }

  /** Whether each replica has a key. A log that ends in an overlap may keep one in its standing that some have retired. */
  #isEverywhere(key: Hash32): boolean {
    const number = LOG_PUBLIC_KEYS.findIndex((each) => hash32FromBytes(each) === key);
    return this.#files.every(({ first, next }) => first === number || next === number);
  }

  /**
   * Expects of the store's standing, once nothing is wrong any more, that the published checkpoint has a line of the
   * newest key, of each other one that signs the log, and of two witnesses, and that it is the last one of a log that was
   * to end, and of no other. Gives it.
   */
  expectOf(text: string | null): LastHead {
    const standing = text === null ? undefined : parseLogStanding(text);
    if (standing === undefined || standing.published === null)
      throw new Error("nothing is published");
    const keys = signingKeysOf(standing).filter((key) => this.#isEverywhere(key));
    // A rotation that begins behind the end is none.
    const newest = hash32FromBytes(publicKeyOf(this.#newest));
    expect(keys).toContain(standing.ended === null ? newest : (keys[0] ?? newest));
    for (const key of keys)
      expect(isSignedBy(standing.published, standing.signed.origin, key)).toBe(true);
    const parsed = parseCheckpoint(standing.published);
    if ("fault" in parsed) throw new Error(parsed.fault);
    const { checkpoint, note } = parsed.value;
    const { isLast = false, size } = checkpoint;
    const cosigned = note.signatures.filter(({ name }) => name !== checkpoint.origin);
    expect(new Set(cosigned.map(({ name }) => name)).size).toBeGreaterThanOrEqual(2);
    expect(isLast).toBe(this.isToEnd);
    expect(standing.ended).toBe(this.isToEnd ? ENDED_BY_OPERATOR : null);
    expect(standing.signed.size).toBe(size);
    return { size, isLast };
  }
}
