import { startChild } from "./support/child.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SIZES = sizeOf({ quick: [10_000], long: [10_000, 100_000, 1_000_000] });
/** Kit takes 14 KB of memory per account. */
const MOST_FOR_KIT = 100_000;
const ROUNDS = 3;
const support = `${import.meta.dir}/support`;
const MIB = 1024 * 1024;

type Way = "kit" | "fields" | "checked";
type Reading = { readonly count: number; readonly ms: number; readonly peakBytes: number };
/** Accounts per second in the median round, and the most memory of all rounds. */
type Outcome = { readonly rate: number; readonly peakBytes: number };

const outcomeOf = (readings: ReadonlyArray<Reading>): Outcome => {
  const rates = readings.map(({ count, ms }) => (count / ms) * 1000).sort((a, b) => a - b);
  return {
    rate: rates[Math.floor(rates.length / 2)] ?? Number.NaN,
    peakBytes: Math.max(...readings.map(({ peakBytes }) => peakBytes)),
  };
};

/** Each measurement has a process of its own, and the ways take turns. */
const measure = async (escrows: number, ways: ReadonlyArray<Way>) => {
  const node = await startChild(`${support}/servers/serve-snapshot.ts`, String(escrows));
  const url = await node.line();
  const readings: Record<Way, Array<Reading>> = { kit: [], fields: [], checked: [] };
  for (let round = 0; round < ROUNDS; round++)
    for (const way of ways) {
      const child = await startChild(`${support}/decode-snapshot.ts`, url, way);
      const reading = JSON.parse(await child.line()) as Reading;
      if (reading.count !== escrows) throw new Error(`${way} read ${reading.count} of ${escrows}`);
      readings[way].push(reading);
    }
  await node.stop();
  return {
    kit: outcomeOf(readings.kit),
    fields: outcomeOf(readings.fields),
    checked: outcomeOf(readings.checked),
  };
};

let kit: Outcome = { rate: Number.NaN, peakBytes: 0 };
for (const escrows of SIZES) {
  const size = escrows.toLocaleString("en-US");
  const hasKit = escrows <= MOST_FOR_KIT;
  const found = await measure(
    escrows,
    hasKit ? ["kit", "fields", "checked"] : ["fields", "checked"],
  );
  if (hasKit) kit = found.kit;
  const kitSize = hasKit ? "" : ` at ${MOST_FOR_KIT.toLocaleString("en-US")}`;
  const { fields, checked } = found;
  report({
    name: `decode a snapshot of ${size} accounts`,
    goal: ">= 15x kit's rpc and codecs",
    figure: fields.rate,
    unit: "/s",
    ratio: `${times(fields.rate, kit.rate)} kit${kitSize}`,
    pass: fields.rate / kit.rate >= 15,
  });
  report({
    name: "the same, each checked and its address derived",
    goal: "",
    figure: checked.rate,
    unit: "/s",
    ratio: `${times(checked.rate, kit.rate)} kit${kitSize}, which checks nothing`,
    pass: null,
  });
  const peakBytes = Math.max(fields.peakBytes, checked.peakBytes);
  report({
    name: `most memory at ${size} accounts`,
    goal: "< 300 MB",
    figure: peakBytes / MIB,
    unit: "MiB",
    ratio: `kit${kitSize} ${(kit.peakBytes / MIB).toFixed(0)} MiB`,
    pass: peakBytes < 300_000_000,
  });
}
