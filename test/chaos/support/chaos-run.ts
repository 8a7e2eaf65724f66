import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seededRandom } from "../../arbitraries/seeded-random.ts";

/** The seed that `test/chaos/run.ts` draws and prints; 1 when a file runs alone. */
export const SEED = Number(process.env["CHAOS_SEED"] ?? 1);

/** A small amount for the short run, a large one for the long run. */
export const amountOf = ({ quick, long }: { readonly quick: number; readonly long: number }) =>
  process.env["CHAOS_QUICK"] === "0" ? long : quick;

/** Random numbers in [0, 1) that depend on the seed and a label. */
export const randomOf = (label: string): (() => number) =>
  seededRandom(SEED ^ Number(Bun.hash(label) & 0xff_ff_ff_ffn));

/** Time limit of any test in the long run, milliseconds. */
export const LONG_MS = 1_800_000;

const folder = mkdtempSync(join(tmpdir(), "settlement-chaos-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let paths = 0;

/** An unused path in a folder that is removed after the tests. */
export const freshPath = (name: string): string => join(folder, `${++paths}`, name);

/** Prints a measured figure on a line of its own. */
export const tell = (what: string): void => void process.stdout.write(`  ${what}\n`);
