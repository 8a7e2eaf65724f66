import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tmpdir } from "../temporary-root.ts";

/** Prometheus's own checker of rules; null where it is not installed. */
export const PROMTOOL = Bun.which("promtool");

/** One moment's values by series, such as `relay_pending{instance="a"}`. */
export type Samples = ReadonlyMap<string, number>;

const LABELS = { job: "settlement-evidence", instance: "127.0.0.1:9464" };

/** A series as a scrape of one service's metrics names it. */
export const seriesOf = (name: string, labels: Readonly<Record<string, string>> = {}): string =>
  `${name}{${Object.entries({ ...labels, ...LABELS })
    .map(([label, value]) => `${label}=${JSON.stringify(value)}`)
    .join(",")}}`;

/** The series of a text in Prometheus's exposition format, and that the service answered. */
export const samplesOf = (text: string): Samples => {
  const labels = Object.entries(LABELS).map(([label, value]) => `${label}="${value}"`);
  return new Map([
    [seriesOf("up"), 1],
    ...Array.from(
      text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm),
      ([, name = "", own = "", value]) =>
        [`${name}{${[...(own === "" ? [] : [own]), ...labels].join(",")}}`, Number(value)] as const,
    ),
  ]);
};

/** How long a moment lasts unless it says so, minutes: longer than any alert waits. */
const LASTS = 30;

/** Moments of `lasts` minutes that follow one another, each with the names of the alerts that must fire at its end. */
export type Timeline = {
  readonly name: string;
  readonly moments: ReadonlyArray<{
    readonly samples: Samples;
    readonly fires: ReadonlyArray<string>;
    readonly lasts?: number;
  }>;
};

/** The end of the last moment of a timeline, seconds of Prometheus's time, which begins at 0. */
export const endOf = (moments: number): number => (moments * LASTS - 1) * 60;

const FIRING = 'group by (alertname) (ALERTS{alertstate="firing"})';

const number = (value: number): string => {
  const text = String(value);
  return /e/.test(text) ? value.toFixed(9) : text;
};

const caseOf = ({ name, moments }: Timeline): object => ({
  name,
  interval: "1m",
  input_series: [...new Set(moments.flatMap(({ samples }) => [...samples.keys()]))].map(
    (series) => ({
      series,
      values: moments
        .map(({ samples, lasts = LASTS }) => {
          const value = samples.get(series);
          return value === undefined ? `_x${lasts}` : `${number(value)}+0x${lasts - 1}`;
        })
        .join(" "),
    }),
  ),
  promql_expr_test: moments.map(({ fires }, at) => ({
    expr: FIRING,
    eval_time: `${moments.slice(0, at + 1).reduce((sum, { lasts = LASTS }) => sum + lasts, -1)}m`,
    exp_samples: fires.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  })),
});

/** Has promtool evaluate the rules over timelines. Null when exactly the named alerts fire, else promtool's words. */
export const differences = async (
  rules: string,
  timelines: ReadonlyArray<Timeline>,
): Promise<string | null> => {
  const folder = mkdtempSync(join(tmpdir(), "settlement-alerts-"));
  try {
    const file = join(folder, "cases.yml");
    const tests = timelines.map(caseOf);
    // YAML takes every JSON text.
    await writeFile(
      file,
      JSON.stringify({ rule_files: [rules], evaluation_interval: "1m", tests }),
    );
    const run = Bun.spawn([PROMTOOL ?? "promtool", "test", "rules", file], {
      stdout: "pipe",
      stderr: "pipe",
    });
    const said = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
    ]);
    return (await run.exited) === 0 ? null : said.join("");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
