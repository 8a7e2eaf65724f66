/** One line of the benchmark table. */
export type Figure = {
  readonly name: string;
  /** The goal in words. */
  readonly goal: string;
  readonly figure: number;
  readonly unit: string;
  /** The figure relative to the yardstick measured beside it, such as `18.2x kit`. */
  readonly ratio: string;
  /** Null for a yardstick and for information only. */
  readonly pass: boolean | null;
};

/** Hands a line to the runner. */
export const report = (figure: Figure): void =>
  void process.stdout.write(`${JSON.stringify({ ...figure, figure: rounded(figure.figure) })}\n`);

/** Counts stay exact; times have four digits. */
const rounded = (value: number): number =>
  Number.isInteger(value) ? value : Number(value.toPrecision(4));

/** Whether this is the short run. */
export const isQuick = process.env["BENCH_QUICK"] === "1";

/** A small size for the short run, a large one for the long run. */
export const sizeOf = <A>({ quick, long }: { readonly quick: A; readonly long: A }): A =>
  isQuick ? quick : long;

/** `3.1x`, how many times `one` is `other`. */
export const times = (one: number, other: number): string =>
  `${(one / other).toFixed(one < other ? 2 : 1)}x`;
