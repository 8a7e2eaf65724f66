/** Values by key. Keeps the last `capacity` to `2 * capacity` keys that were set or read. */
export class RecentlyUsed<Key, Value> {
  readonly #capacity: number;
  #newer = new Map<Key, Value>();
  #older = new Map<Key, Value>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The value of a key, undefined when it is not kept. */
  get(key: Key): Value | undefined {
    const value = this.#newer.get(key);
    if (value !== undefined) return value;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: Key, value: Value): void {
    if (this.#newer.size >= this.#capacity && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  /** Drops all of them. */
  clear(): void {
    this.#newer = new Map();
    this.#older = new Map();
  }
}
