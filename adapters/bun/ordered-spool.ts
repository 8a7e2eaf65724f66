import { appendFileSync, closeSync, mkdirSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** What a bucket holds before it is written to its file: ten million rows have some 600 buckets. */
const CHUNK_BYTES = 32 * 1024;
/** Before each record: its number within the bucket (u32) and its length (u16), both big-endian. */
const HEADER_BYTES = 6;

/** A record as it was appended. Its bytes are a part of the whole bucket's, which stay as they are. */
export type SpooledRecord = { readonly seq: number; readonly bytes: Uint8Array };

/** One range of numbers: records that wait in memory, and a file with those before them. */
class Bucket {
  #waiting = Buffer.allocUnsafe(4096);
  #used = 0;
  #onDisk = 0;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  append(at: number, bytes: Uint8Array): void {
    const length = HEADER_BYTES + bytes.length;
    if (this.#used + length > this.#waiting.length) this.#makeRoom(length);
    this.#waiting.writeUInt32BE(at, this.#used);
    this.#waiting.writeUInt16BE(bytes.length, this.#used + 4);
    this.#waiting.set(bytes, this.#used + HEADER_BYTES);
    this.#used += length;
  }

  #makeRoom(length: number): void {
    if (this.#waiting.length >= CHUNK_BYTES) {
      appendFileSync(this.#path, this.#waiting.subarray(0, this.#used));
      this.#onDisk += this.#used;
      this.#used = 0;
      return;
    }
    const grown = Math.max(2 * this.#waiting.length, this.#used + length);
    const waiting = Buffer.allocUnsafe(Math.min(grown, CHUNK_BYTES));
    waiting.set(this.#waiting.subarray(0, this.#used));
    this.#waiting = waiting;
    if (this.#used + length > waiting.length) this.#makeRoom(length);
  }

  /** All records, read into one buffer: a copy of it would wait for the garbage collector. */
  content(): Buffer {
    const content = Buffer.allocUnsafeSlow(this.#onDisk + this.#used);
    this.#readInto(content);
    this.#waiting.copy(content, this.#onDisk, 0, this.#used);
    return content;
  }

  #readInto(content: Buffer): void {
    if (this.#onDisk === 0) return;
    const file = openSync(this.#path, "r");
    try {
      for (let at = 0; at < this.#onDisk;) {
        const read = readSync(file, content, at, this.#onDisk - at, at);
        if (read === 0) throw new Error(`${this.#path} was cut while it was used`);
        at += read;
      }
    } finally {
      closeSync(file);
    }
  }
}

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
      const content = this.#buckets.get(range)?.content() ?? Buffer.alloc(0);
      const first = range * this.#numbersPerBucket;
      for (const at of this.#sorted(content)) {
        const start = at + HEADER_BYTES;
        const bytes = content.subarray(start, start + content.readUInt16BE(at + 4));
        yield { seq: first + content.readUInt32BE(at), bytes };
      }
    }
  }

  /** Where the records of a bucket begin, by ascending number: a counting sort, since the numbers lie close together. */
  #sorted(content: Buffer): Float64Array {
    const places = new Uint32Array(this.#numbersPerBucket + 1);
    let records = 0;
    for (let at = 0; at < content.length; at += HEADER_BYTES + content.readUInt16BE(at + 4)) {
      const after = content.readUInt32BE(at) + 1;
      places[after] = (places[after] ?? 0) + 1;
      records += 1;
    }
    for (let i = 1; i < places.length; i++) places[i] = (places[i] ?? 0) + (places[i - 1] ?? 0);
    const sorted = new Float64Array(records);
    for (let at = 0; at < content.length; at += HEADER_BYTES + content.readUInt16BE(at + 4)) {
      const number = content.readUInt32BE(at);
      const place = places[number] ?? 0;
      sorted[place] = at;
      places[number] = place + 1;
    }
    return sorted;
  }
}
