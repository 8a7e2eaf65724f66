/** Lines that are shown before and behind lines that differ. */
const CONTEXT = 3;
/** Where the sides differ in more lines than these together, all that follows counts as different. */
const FARTHEST = 200;
/** More lines than these are not shown. */
const MOST_LINES = 60;

/** How many lines of each side to pass over, the fewest in all, until the next two are the same on both. */
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
 * The lines in which two texts differ, those of the first marked with `-` and those of the second with `+`, among
 * lines that are the same; at most 60 of them.
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
