/** Calls of a node by JSON-RPC method. A request in a batch counts as one call, as providers bill it. */
export class CallCount {
  #calls = new Map<string, number>();
  /** All calls so far, also those that were taken. */
  all = 0;
  /** Bytes of the answers. */
  bytes = 0;

  /** Counts a call. */
  add(method: string, bytes: number): void {
    this.#calls.set(method, (this.#calls.get(method) ?? 0) + 1);
    this.all += 1;
    this.bytes += bytes;
  }

  /** The calls since the last call of this, by method, most first, and none from now on. */
  take(): ReadonlyMap<string, number> {
    const taken = new Map([...this.#calls].toSorted((a, b) => b[1] - a[1]));
    this.#calls = new Map();
    return taken;
  }
}

/** All calls of a count. */
export const totalOf = (calls: ReadonlyMap<string, number>): number =>
  [...calls.values()].reduce((sum, count) => sum + count, 0);
