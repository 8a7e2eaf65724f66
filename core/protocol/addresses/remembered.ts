import { RecentlyUsed } from "../../domain/recently-used.ts";

/**
 * A function of two texts that remembers its latest results, between `capacity` and twice as many, one for each
 * first text: that with the second text it was last asked for. For pure functions only, and where few first texts
 * ever come with several second ones; a key of both together would have to be put together and hashed each time.
 */
export const remembered = <First extends string, Second extends string, Result>(
  capacity: number,
  compute: (first: First, second: Second) => Result,
): ((first: First, second: Second) => Result) => {
  const results = new RecentlyUsed<First, { readonly second: Second; readonly result: Result }>(
    capacity,
  );
  return (first, second) => {
    const known = results.get(first);
    if (known?.second === second) return known.result;
    const result = compute(first, second);
    results.set(first, { second, result });
    return result;
  };
};
