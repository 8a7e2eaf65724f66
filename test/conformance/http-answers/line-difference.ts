/** Lines shown before and after lines that differ. */
const CONTEXT = 3;
/** When the sides differ in more lines than this, all later lines count as different. */
const FARTHEST = 200;
/** The most lines shown. */
const MOST_LINES = 60;

/** How many lines of each side to skip, the fewest in all, until the next two lines are equal on both sides. */
const untilSame = (
  old: ReadonlyArray<string>,
  now: ReadonlyArray<string>,
): readonly [number, number] => {
  for (let far = 1; far <= FARTHEST; far++)
    for (let ofOld = 0; ofOld <= far; ofOld++) {
      const ofNow = far - ofOld;
      if (old[ofOld] === now[ofNow] && old[ofOld + 1] === now[ofNow + 1]) return [ofOld, ofNow];
    }
  return [old.length, now.length];
};

/**
 * The lines in which two texts differ, marked with `-` for the first and `+` for the second, among equal lines. At most
 * 60 lines.
 */
export const lineDifference = (before: string, after: string): string => {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const shown: Array<string> = [];
  let [inOld, inNow, toShow] = [0, 0, 0];
  while (inOld < old.length || inNow < now.length) {
    if (old[inOld] === now[inNow]) {
      if (toShow > 0) shown.push(`  ${old[inOld]}`);
      toShow -= 1;
      if (toShow === 0) shown.push("  …");
      inOld += 1;
      inNow += 1;
      continue;
    }
    if (toShow <= 0)
      shown.push(...old.slice(Math.max(0, inOld - CONTEXT), inOld).map((line) => `  ${line}`));
    const [ofOld, ofNow] = untilSame(old.slice(inOld), now.slice(inNow));
    shown.push(...old.slice(inOld, inOld + ofOld).map((line) => `- ${line}`));
    shown.push(...now.slice(inNow, inNow + ofNow).map((line) => `+ ${line}`));
    inOld += ofOld;
    inNow += ofNow;
    toShow = CONTEXT;
  }
  return shown.length <= MOST_LINES
    ? shown.join("\n")
    : [...shown.slice(0, MOST_LINES), `  … ${shown.length - MOST_LINES} more lines`].join("\n");
};
