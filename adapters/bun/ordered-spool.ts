import { appendFileSync, closeSync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

/** What a bucket holds before it is written to its file: ten million rows have some 600 buckets. */
const CHUNK_BYTES = 32 * 1024;
const FIRST_BYTES = 4096;
/** Before each record: its number within the bucket and its length, as words of the machine's order. */
const HEADER_BYTES = 8;
const WORD = 4;

/** A record as it was appended. Its bytes are a part of the whole bucket's, which stay as they are. */
export type SpooledRecord = { readonly seq: number; readonly bytes: Uint8Array };

/** Whole words that hold this many bytes: records begin at words, so that headers are read as such. */
const wordsOf = (bytes: number): number => (bytes + WORD - 1) >>> 2;

const memory = (length: number) => {
  const bytes = new Uint8Array(length);
  return { bytes, words: new Uint32Array(bytes.buffer) };
};

/** One range of numbers: records that wait in memory, and a file with those before them. */
class Bucket {
  #waiting = memory(FIRST_BYTES);
  #used = 0;
  #isOnDisk = false;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  append(at: number, bytes: Uint8Array): void {
    const length = HEADER_BYTES + wordsOf(bytes.length) * WORD;
    if (this.#used + length > this.#waiting.bytes.length) this.#makeRoom(length);
    const word = this.#used >>> 2;
    this.#waiting.words[word] = at;
    this.#waiting.words[word + 1] = bytes.length;
    this.#waiting.bytes.set(bytes, this.#used + HEADER_BYTES);
    this.#used += length;
  }

  #makeRoom(length: number): void {
    if (this.#waiting.bytes.length >= CHUNK_BYTES) {
      appendFileSync(this.#path, this.#waiting.bytes.subarray(0, this.#used));
      this.#isOnDisk = true;
      this.#used = 0;
      return;
    }
    const grown = Math.max(2 * this.#waiting.bytes.length, this.#used + length);
    const waiting = memory(Math.min(grown, CHUNK_BYTES));
    waiting.bytes.set(this.#waiting.bytes.subarray(0, this.#used));
    this.#waiting = waiting;
    if (this.#used + length > waiting.bytes.length) this.#makeRoom(length);
  }

  content() {
    const size = this.#isOnDisk ? statSync(this.#path).size : 0;
    const content = memory(size + this.#used);
    if (size > 0) readFully(this.#path, content.bytes.subarray(0, size));
    content.bytes.set(this.#waiting.bytes.subarray(0, this.#used), size);
    return content;
  }
}

const readFully = (path: string, into: Uint8Array): void => {
  const fd = openSync(path, "r");
  try {
    for (let at = 0; at < into.length;) {
      const read = readSync(fd, into, at, into.length - at, at);
      if (read === 0) throw new Error(`${path} is shorter than what was written`);
      at += read;
    }
  } finally {
    closeSync(fd);
  }
};

/**
 * Records that come in any order and are read in ascending order of their numbers. They wait in files by ranges of
 * numbers, of which one at a time is read and sorted, so that memory stays bounded at any number of records.
 */
export class OrderedSpool {
  readonly #folder: string;
  readonly #numbersPerBucket: number;
  readonly #buckets = new Map<number, Bucket>();

  /**
   * Keeps its files in `folder`, which it makes and which must be its own. A bucket of `numbersPerBucket` numbers, at
   * most 2^32, has to fit into memory.
   */
  constructor(folder: string, numbersPerBucket: number) {
    mkdirSync(folder, { recursive: true });
    this.#folder = folder;
    this.#numbersPerBucket = numbersPerBucket;
  }

  /** Adds at most 65,535 bytes under a number, a safe integer from 0 on. They are copied. */
  append(seq: number, bytes: Uint8Array): void {
    const range = Math.floor(seq / this.#numbersPerBucket);
    let bucket = this.#buckets.get(range);
    if (bucket === undefined) {
      bucket = new Bucket(join(this.#folder, String(range)));
      this.#buckets.set(range, bucket);
    }
    bucket.append(seq - range * this.#numbersPerBucket, bytes);
  }

  /** All records by ascending number; those with one number in the order in which they came. */
  *ascending(): Generator<SpooledRecord, void> {
    for (const range of [...this.#buckets.keys()].sort((a, b) => a - b)) {
      const { bytes, words } = this.#buckets.get(range)?.content() ?? memory(0);
      const first = range * this.#numbersPerBucket;
      const sorted = this.#sorted(words);
      for (let i = 0; i < sorted.length; i++) {
        const word = sorted[i] ?? 0;
        const start = word * WORD + HEADER_BYTES;
        const length = words[word + 1] ?? 0;
        yield { seq: first + (words[word] ?? 0), bytes: bytes.subarray(start, start + length) };
      }
    }
  }

  /** The words where records begin, by ascending number: a counting sort, since the numbers lie close together. */
  #sorted(words: Uint32Array): Uint32Array {
    const places = new Uint32Array(this.#numbersPerBucket + 1);
    const next = (word: number): number =>
      word + HEADER_BYTES / WORD + wordsOf(words[word + 1] ?? 0);
    let records = 0;
    for (let word = 0; word < words.length; word = next(word)) {
      const after = (words[word] ?? 0) + 1;
      places[after] = (places[after] ?? 0) + 1;
      records += 1;
    }
    for (let i = 1; i < places.length; i++) places[i] = (places[i] ?? 0) + (places[i - 1] ?? 0);
    const sorted = new Uint32Array(records);
    for (let word = 0; word < words.length; word = next(word)) {
      const number = words[word] ?? 0;
      const place = places[number] ?? 0;
      sorted[place] = word;
      places[number] = place + 1;
    }
    return sorted;
  }
}
