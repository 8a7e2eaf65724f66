import type { OperatorFacts } from "../../../core/use-cases/service/operator-facts.ts";

/** A value at a scrape; null where it is not known, which Prometheus is told as NaN. */
export type Scraped = number | bigint | boolean | null | undefined;

/** One time series of a gauge. */
type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: Scraped };

/** A gauge that is set from the operator's facts at each scrape. */
export type FactGauge = {
  readonly type: "gauge";
  readonly unit: string;
  readonly labels: ReadonlyArray<string>;
  readonly about: string;
  readonly of: (facts: OperatorFacts) => ReadonlyArray<Sample>;
};

/** A gauge of one sample for each set of labels. */
export const gauges = <const Label extends string>(
  unit: string,
  labels: ReadonlyArray<Label>,
  about: string,
  of: (
    facts: OperatorFacts,
  ) => ReadonlyArray<readonly [labels: Record<NoInfer<Label>, string>, value: Scraped]>,
): FactGauge => ({
  type: "gauge",
  unit,
  labels,
  about,
  of: (facts) => of(facts).map(([given, value]) => ({ labels: given, value })),
});

/** A gauge of one sample. */
export const gauge = (
  unit: string,
  about: string,
  of: (facts: OperatorFacts) => Scraped,
): FactGauge => gauges(unit, [], about, (facts) => [[{}, of(facts)]]);
