/** What is remembered of a session while it goes on. */
export type CaptureProgress = {
  /** Base units that were captured, landed and not yet finalized ones too. */
  captured: bigint;
  landedMs: number;
  /** Since when something is owed; null while nothing is. */
  owedSinceMs: number | null;
  /** When a release landed. */
  releasedMs: number;
  notBeforeMs: number;
  going: Promise<void> | null;
};

/** Of a session of which nothing is known yet. */
export const nothingCaptured = (): CaptureProgress => ({
  captured: 0n,
  landedMs: Number.NEGATIVE_INFINITY,
  owedSinceMs: null,
  releasedMs: Number.NEGATIVE_INFINITY,
  notBeforeMs: Number.NEGATIVE_INFINITY,
  going: null,
});

/** From which debt on a session is captured, base units: the worth, or a third of its budget where that is more. */
export const enough = (amount: bigint, worth: bigint): bigint => {
  const third = (amount + 2n) / 3n;
  return third > worth ? third : worth;
};
