import { test } from "bun:test";
import { amountOf, freshPath, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { endureFlood } from "./support/faults/endure-flood.ts";
import type { Flood, Manner } from "./support/faults/junk-flood.ts";

const MIB = 1024 * 1024;
/** As large as an account can be (Agave `system_interface`, `MAX_PERMITTED_DATA_LENGTH`). */
const LARGEST = 10 * MIB;
const NONE = { small: 0, large: 0, largeBytes: LARGEST };

const FLOODS: Readonly<Record<string, Omit<Flood, "contents">>> = {
  "many small accounts": { ...NONE, small: amountOf({ quick: 1_000, long: 50_000 }) },
  "one large account": { ...NONE, small: 10, large: 1 },
  // More than the limit of an answer (256 MiB), even in the short run.
  "many large accounts": { ...NONE, small: 10, large: amountOf({ quick: 20, long: 100 }) },
};
const MANNERS: ReadonlyArray<Manner> = ["follows filters", "ignores filters", "gives parts only"];

/** In the short run each flood comes in one manner of its own. */
const isShort = amountOf({ quick: 1, long: 0 }) === 1;

for (const [at, [name, amounts]] of Object.entries(FLOODS).entries())
  for (const manner of MANNERS.filter((_, place) => !isShort || place === at))
    test(
      `a flood of ${name} does not stop the index at a node that ${manner}`,
      async () => {
        for (const contents of ["zeros", "random", "forged"] as const) {
          const path = freshPath("flooded.sqlite");
          const random = randomOf(`${name} ${manner} ${contents}`);
          try {
            await endureFlood({ flood: { ...amounts, contents }, manner, path }, random);
          } catch (cause) {
            throw new Error(`seed ${SEED}, ${contents}`, { cause });
          }
        }
        const { small, large } = amounts;
        tell(
          `${manner}: ${small} small and ${large} large accounts endured, twice, of three kinds`,
        );
      },
      LONG_MS,
    );
