import type { Parsed } from "../parsed.ts";

/** An entry's length stands before it in two bytes. */
const LENGTH_BYTES = 2;

/** The longest entry of a bundle. */
export const MAX_ENTRY_LENGTH = 0xffff;

/** Room for 256 leaves of 66 bytes, which is what nearly all bundles hold. */
const USUAL_LENGTH = 256 * (LENGTH_BYTES + 66);

/** A bundle that grows entry by entry: each with its length before it as u16 BE (C2SP tlog-tiles, "Log entries"). */
export class EntryBundle {
  #bytes = new Uint8Array(USUAL_LENGTH);
  #length = 0;

  /** Appends an entry. @throws RangeError for one of more than 65,535 bytes. */
  append(entry: Uint8Array): void {
    if (entry.length > MAX_ENTRY_LENGTH)
      throw new RangeError(`an entry of ${entry.length} bytes is too long`);
    const end = this.#length + LENGTH_BYTES + entry.length;
    if (end > this.#bytes.length) {
      const more = new Uint8Array(Math.max(end, 2 * this.#bytes.length));
      more.set(this.#bytes);
      this.#bytes = more;
    }
    this.#bytes[this.#length] = entry.length >> 8;
    this.#bytes[this.#length + 1] = entry.length & 0xff;
    this.#bytes.set(entry, this.#length + LENGTH_BYTES);
    this.#length = end;
  }

  /** A copy of the bundle's bytes. */
  bytes(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Begins the next bundle. */
  clear(): void {
    this.#length = 0;
  }
}

/** The bundle of entries. @throws RangeError for one of more than 65,535 bytes. */
export const encodeEntryBundle = (entries: Iterable<Uint8Array>): Uint8Array => {
  const bundle = new EntryBundle();
  for (const entry of entries) bundle.append(entry);
  return bundle.bytes();
};

/** The `width` entries of a bundle, or what is wrong with it. */
export const decodeEntryBundle = (
  bytes: Uint8Array,
  width: number,
): Parsed<ReadonlyArray<Uint8Array>> => {
  const entries: Array<Uint8Array> = [];
  let at = 0;
  while (at < bytes.length) {
    const [high, low] = [bytes[at], bytes[at + 1]];
    if (high === undefined || low === undefined) return { fault: "a length is cut off" };
    const from = at + LENGTH_BYTES;
    at = from + high * 256 + low;
    if (at > bytes.length) return { fault: "an entry is cut off" };
    entries.push(bytes.slice(from, at));
  }
  return entries.length === width
    ? { value: entries }
    : { fault: `the bundle has ${entries.length} entries, not ${width}` };
};
