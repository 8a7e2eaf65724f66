const INITIAL_CAPACITY = 64 * 1024;

/**
 * The arrived but unread part of a stream, in one reused buffer. Joining chunks for each arrival costs more than
 * reading them.
 */
export class HeldBytes {
  #memory = Buffer.allocUnsafe(INITIAL_CAPACITY);
  #from = 0;
  #to = 0;

  get length(): number {
    return this.#to - this.#from;
  }

  /** All held bytes, valid until the next `add`. */
  get bytes(): Buffer {
    return this.#memory.subarray(this.#from, this.#to);
  }

  add(chunk: Uint8Array): void {
    if (this.#to + chunk.length > this.#memory.length) this.#makeRoomFor(chunk.length);
    this.#memory.set(chunk, this.#to);
    this.#to += chunk.length;
  }

  /** Drops the first `count` bytes. */
  drop(count: number): void {
    this.#from += count;
  }

  #makeRoomFor(count: number): void {
    const { bytes } = this;
    let capacity = this.#memory.length;
    while (capacity < bytes.length + count) capacity *= 2;
    if (capacity > this.#memory.length) this.#memory = Buffer.allocUnsafe(capacity);
    this.#memory.set(bytes);
    this.#from = 0;
    this.#to = bytes.length;
  }
}
