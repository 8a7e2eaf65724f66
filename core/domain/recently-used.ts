/**
 * Values by key, of which the latest are kept, between `capacity` and twice as many: those set or asked
 * for since the older half was dropped.
 */
export class RecentlyUsed<Key, Value> {
  readonly #capacity: number;
  #newer = new Map<Key, Value>();
  #older = new Map<Key, Value>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The value of a key, undefined where there is none or it is no longer kept. */
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
}
