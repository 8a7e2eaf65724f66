/** Numbers that a seed determines (Marsaglia's xorshift, 32 bits). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds begin far from each other, and none at zero.
    this.#state = (Math.imul(seed + 1, 0x9e37_79b1) ^ 0x5bd1_e995) >>> 0 || 1;
    for (let i = 0; i < 4; i++) this.#next();
  }

  #next(): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    this.#state >>>= 0;
    return this.#state;
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return (this.#next() >>> 4) % count;
  }

  /** One of a list. @throws Error for an empty list. */
  of<Value>(values: ReadonlyArray<Value>): Value {
    if (values.length === 0) throw new Error("nothing to choose from");
    return values[this.below(values.length)] as Value;
  }
}
