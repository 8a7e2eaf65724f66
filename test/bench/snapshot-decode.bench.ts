import { startChild } from "./support/child.ts";
import { report, sizeOf, times } from "./support/report.ts";

const ESCROWS = sizeOf({ quick: 10_000, long: 100_000 });
const support = `${import.meta.dir}/support`;
const MIB = 1024 * 1024;

type Reading = { readonly count: number; readonly ms: number; readonly peakBytes: number };

const node = await startChild(`${support}/serve-world.ts`, String(ESCROWS));
const url = await node.line();
const read = async (way: string): Promise<Reading> => {
  const child = await startChild(`${support}/decode-snapshot.ts`, url, way);
  const reading = JSON.parse(await child.line()) as Reading;
  if (reading.count < ESCROWS) throw new Error(`${way} read ${reading.count} of ${ESCROWS}`);
  return reading;
};
const kit = await read("kit");
const ours = await read("ours");
const decoded = await read("ours-decoded");
await node.stop();

const rate = ({ ms }: Reading): number => (ESCROWS / ms) * 1000;
report({
  name: `decode a snapshot of ${ESCROWS} accounts`,
  goal: ">= 15x kit's rpc",
  figure: rate(ours),
  unit: "/s",
  ratio: `${times(rate(ours), rate(kit))} kit with its codecs`,
  pass: rate(ours) / rate(kit) >= 15,
});
report({
  name: "the same, each checked and its address derived",
  goal: "",
  figure: rate(decoded),
  unit: "/s",
  ratio: `${times(rate(decoded), rate(kit))} kit, which checks nothing`,
  pass: null,
});
report({
  name: "most memory meanwhile",
  goal: "< 300 MB",
  figure: Math.max(ours.peakBytes, decoded.peakBytes) / MIB,
  unit: "MiB",
  ratio: `kit ${(kit.peakBytes / MIB).toFixed(0)} MiB`,
  pass: Math.max(ours.peakBytes, decoded.peakBytes) < 300 * MIB,
});
