import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../arbitraries/seeded-random.ts";

/** Drawn by `test/chaos/run.ts`, which prints it; 1 when a file is run by itself. */
export const SEED = Number(process.env["CHAOS_SEED"] ?? 1);

/** How much of something to do: little unless the long run was asked for. */
export const amountOf = ({ quick, long }: { readonly quick: number; readonly long: number }) =>
  process.env["CHAOS_QUICK"] === "0" ? long : quick;

/** Random numbers in [0, 1) that follow from the seed and a label. */
export const randomOf = (label: string): (() => number) =>
  seededRandom(SEED ^ Number(Bun.hash(label) & 0xff_ff_ff_ffn));

/** Enough time for the long run of any test, milliseconds. */
export const LONG_MS = 1_800_000;

const folder = mkdtempSync(join(tmpdir(), "settlement-chaos-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let paths = 0;

/** A path that nothing has used before, in a folder that is removed after the tests. */
export const freshPath = (name: string): string => join(folder, `${++paths}`, name);

/** Tells a figure that the test measured, on a line of its own. */
export const tell = (what: string): void => void process.stdout.write(`  ${what}\n`);
