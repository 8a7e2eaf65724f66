/**
 * Takes choices from a list of numbers, so that a list determines a step. Fewer and smaller numbers give a simpler
 * step, which is how a failing sequence shrinks. After the end of the list every choice is the first.
 */
export class Choices {
  readonly #numbers: ReadonlyArray<number>;
  #next = 0;

  constructor(numbers: ReadonlyArray<number>) {
    this.#numbers = numbers;
  }

  /** A whole number from 0 to below `count`. */
  below(count: number): number {
    return (this.#numbers[this.#next++] ?? 0) % count;
  }

  /** One of a list, the first for a choice of 0. @throws Error for an empty list. */
  of<Value>(values: ReadonlyArray<Value>): Value {
    if (values.length === 0) throw new Error("nothing to choose from");
    return values[this.below(values.length)] as Value;
  }

  /** The first of a list in `share` of 16 cases, any of them in the others. */
  mostly<Value>(values: ReadonlyArray<Value>, share = 12): Value {
    return this.below(16) < share ? (values[0] as Value) : this.of(values);
  }

  /** True in `share` of 16 cases, for the largest numbers. */
  seldom(share: number): boolean {
    return this.below(16) >= 16 - share;
  }
}
