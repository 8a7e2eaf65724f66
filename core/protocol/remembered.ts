import { RecentlyUsed } from "../domain/recently-used.ts";

/**
 * A function of one text that remembers its latest results, between `capacity` and twice as many. For pure
 * functions only.
 */
export const remembered = <A>(
  capacity: number,
  compute: (text: string) => A,
): ((text: string) => A) => {
  const results = new RecentlyUsed<string, A>(capacity);
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    results.set(text, result);
    return result;
  };
};
