/** One line of the benchmark table. */
export type Figure = {
  readonly name: string;
  /** What is aimed at, in words. */
  readonly goal: string;
  readonly figure: number;
  readonly unit: string;
  /** How the figure stands to the yardstick measured beside it, such as `18.2x kit`. */
  readonly ratio: string;
  /** Null where the line is a yardstick or only informs. */
  readonly pass: boolean | null;
};

/** Hands a line to the runner. */
export const report = (figure: Figure): void =>
  void process.stdout.write(`${JSON.stringify({ ...figure, figure: rounded(figure.figure) })}\n`);

/** What was counted stays as it is; what was timed is good for four digits. */
const rounded = (value: number): number =>
  Number.isInteger(value) ? value : Number(value.toPrecision(4));

/** Whether the short run was asked for. */
export const isQuick = process.env["BENCH_QUICK"] === "1";

/** Little in the short run, much in the long one. */
export const sizeOf = <A>({ quick, long }: { readonly quick: A; readonly long: A }): A =>
  isQuick ? quick : long;

/** `3.1x`, how many times `one` is `other`. */
export const times = (one: number, other: number): string =>
  `${(one / other).toFixed(one < other ? 2 : 1)}x`;
