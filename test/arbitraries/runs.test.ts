import { expect, test } from "bun:test";
import fc from "fast-check";
import { join } from "node:path";
import { runs } from "./runs.ts";

const failing = fc.property(fc.integer(), (value) => {
  if (value > 1000) throw new Error(`${value} is too large`);
});
const AGAIN = /FC_SEED=(-?\d+) bun test test\/arbitraries\/runs\.test\.ts\n/;

const PRELOAD = join(import.meta.dir, "../preload.ts");
/** Draws a whole number as a sample, and another in a property. */
const DRAW = `import fc from "fast-check";
console.log(fc.sample(fc.integer(), 1)[0]);
fc.assert(fc.property(fc.integer(), (value) => console.log(value)), { numRuns: 1 });`;

/** The message of a failing property, without its stack lines. */
const failure = (): string => {
  try {
    fc.assert(failing, runs(1000));
  } catch (thrown) {
    return String(thrown).replaceAll(/^ +at .*\n/gm, "");
  }
  throw new Error("the property holds");
};

test("a failing property prints its counterexample, its cause and the command that replays it", () => {
  const printed = failure();
  expect(printed).toMatch(AGAIN);
  expect(printed).toContain("Counterexample: [1001]");
  expect(printed).toContain("1001 is too large");
});

test("the printed seed reproduces the failure", () => {
  const first = failure();
  const before = process.env["FC_SEED"];
  process.env["FC_SEED"] = AGAIN.exec(first)?.[1];
  try {
    expect(failure()).toBe(first);
  } finally {
    if (before === undefined) delete process.env["FC_SEED"];
    else process.env["FC_SEED"] = before;
  }
});

test("a property that holds prints nothing", () => {
  fc.assert(
    fc.property(fc.nat(), (value) => value >= 0),
    runs(10),
  );
});

test("FC_SEED also draws the samples and properties that name no seed", async () => {
  const drawn = async (seed: string): Promise<string> => {
    const child = Bun.spawn([process.execPath, "--preload", PRELOAD, "-e", DRAW], {
      env: { ...process.env, FC_SEED: seed },
      stdout: "pipe",
    });
    return new Response(child.stdout).text();
  };
  const [one, again, other] = await Promise.all(["1", "1", "2"].map(drawn));
  expect(one).toMatch(/^(?:-?\d+\n){2}$/);
  expect(again).toBe(one);
  expect(other).not.toBe(one);
});
