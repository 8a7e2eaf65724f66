type Steps = ReadonlyArray<ReadonlyArray<number>>;

const without = (steps: Steps, at: number, count: number): Steps => [
  ...steps.slice(0, at),
  ...steps.slice(at + count),
];

/**
 * Fewer steps, and smaller numbers in them, that still fail: it leaves out groups of steps, then sets choices to the
 * first.
 */
export const shrunk = (steps: Steps, fails: (steps: Steps) => boolean): Steps => {
  let least = steps;
  for (let size = Math.ceil(least.length / 2); size >= 1; size = Math.floor(size / 2))
    for (let at = 0; at < least.length;) {
      const fewer = without(least, at, size);
      if (fails(fewer)) least = fewer;
      else at += size;
    }
  for (const [at, numbers] of least.entries())
    for (const [i, number] of numbers.entries()) {
      if (number === 0) continue;
      const plainer = least.map((each, k) => (k === at ? each.with(i, 0) : each));
      if (fails(plainer)) least = plainer;
    }
  return least;
};
