/** What a load came to. */
export type Load = { readonly perSecond: number; readonly p99Ms: number };

/** Sends requests over so many connections, one after another on each, for some time. */
export const load = async (
  makeRequest: (number: number) => Request,
  { connections, seconds }: { readonly connections: number; readonly seconds: number },
): Promise<Load> => {
  const tookMs: Array<number> = [];
  let number = 0;
  const run = async (untilMs: number, isCounted: boolean): Promise<void> => {
    while (performance.now() < untilMs) {
      const startMs = performance.now();
      const answer = await fetch(makeRequest(number++));
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`${answer.url} answered ${answer.status}`);
      if (isCounted) tookMs.push(performance.now() - startMs);
    }
  };
  const all = (untilMs: number, isCounted: boolean) =>
    Promise.all(Array.from({ length: connections }, () => run(untilMs, isCounted)));
  await all(performance.now() + 500, false);
  const startMs = performance.now();
  await all(startMs + seconds * 1000, true);
  const perSecond = tookMs.length / ((performance.now() - startMs) / 1000);
  const p99Ms = tookMs.toSorted((a, b) => a - b)[Math.floor(tookMs.length * 0.99)] ?? Number.NaN;
  return { perSecond, p99Ms };
};
