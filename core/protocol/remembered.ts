/**
 * A function of one text that remembers its latest results, between `capacity` and twice as many: those
 * asked for since the older half was dropped. For pure functions only.
 */
export const remembered = <A>(
  capacity: number,
  compute: (text: string) => A,
): ((text: string) => A) => {
  let newer = new Map<string, A>();
  let older = new Map<string, A>();
  return (text) => {
    const known = newer.get(text);
    if (known !== undefined) return known;
    const result = older.get(text) ?? compute(text);
    if (newer.size >= capacity) {
      older = newer;
      newer = new Map();
    }
    newer.set(text, result);
    return result;
  };
};
