import { MAIN } from "../app/support/service-process.ts";
import { relayBench } from "./support/relay-bench.ts";
import { report, sizeOf, times } from "./support/report.ts";

/** Another checkout's `app/main.ts` to compare with, such as one before a change. */
const BASELINE = process.env["RELAY_BENCH_BASELINE"];
const ROUNDS = sizeOf({ quick: 2, long: 5 });
const EACH = sizeOf({ quick: 2, long: 5 });
const CONNECTIONS = 16;

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const ours = await relayBench(MAIN);
const theirs = BASELINE === undefined ? null : await relayBench(BASELINE);
for (const skipPreflight of [false, true]) {
  const options = { each: EACH, connections: CONNECTIONS, skipPreflight };
  const here: Array<number> = [];
  const there: Array<number> = [];
  // The first round only warms up. Both versions take turns, so that other load on the machine affects both.
  for (let round = 0; round <= ROUNDS; round++) {
    const perSecond = await ours.relay(options);
    const baseline = theirs === null ? null : await theirs.relay(options);
    if (round === 0) continue;
    here.push(perSecond);
    if (baseline !== null) there.push(baseline);
  }
  const ratios = here.map((perSecond, round) => perSecond / (there[round] ?? Number.NaN));
  const preflight = skipPreflight ? "skip_preflight" : "with preflight";
  report({
    name: `POST /v1/relay, ${CONNECTIONS} connections, ${preflight}`,
    goal: "",
    figure: median(here),
    unit: "/s",
    ratio: theirs === null ? "" : `${times(median(ratios), 1)} the baseline`,
    pass: null,
  });
}
await ours.stop();
await theirs?.stop();
