import fc from "fast-check";
import { anyMerchant, type EscrowLife, escrowLives } from "../../arbitraries/index-history.ts";
import { seededRandom } from "../../arbitraries/seeded-random.ts";
import { WeatheredChain } from "../../world/weathered-chain.ts";
import { ScheduleNodes } from "./schedule-nodes.ts";

/** What a schedule's seed decides before anything runs. */
export type ScheduleWorld = {
  readonly random: () => number;
  /** A whole number below n. */
  readonly below: (n: number) => number;
  readonly ledger: WeatheredChain;
  /** Another history, which a node may show as a whole. */
  readonly fork: WeatheredChain;
  /** What happens on the ledger and on the fork, in order. */
  readonly steps: ReadonlyArray<() => void>;
  readonly forkSteps: ReadonlyArray<() => void>;
  /** Whether the ledger fills a tile of 256 leaves. */
  readonly isLarge: boolean;
  readonly mayFork: boolean;
  readonly replicas: number;
  readonly nodes: ScheduleNodes;
};

const sampled = <T>(values: fc.Arbitrary<T>, seed: number): T => {
  const [value] = fc.sample(values, { numRuns: 1, seed });
  if (value === undefined) throw new Error("no sample");
  return value;
};

/**
 * The steps of lives in a random order that keeps each life's own. Some settled escrows are archived at once, some
 * later.
 */
const stepsOf = (
  ledger: WeatheredChain,
  lives: ReadonlyArray<EscrowLife>,
  random: () => number,
): ReadonlyArray<() => void> =>
  lives
    .flatMap((life) => {
      const [created, settled] = [random(), random()].sort((a, b) => a - b);
      return [
        { at: created ?? 0, act: () => ledger.create(life) },
        ...life
          .slice(1)
          .flatMap((last) => [
            { at: settled ?? 0, act: () => ledger.settle(last) },
            ...(random() < 0.6
              ? [{ at: (settled ?? 0) + random() * 0.3, act: () => ledger.archive(last) }]
              : []),
          ]),
      ];
    })
    .sort((a, b) => a.at - b.at)
    .map(({ act }) => act);

/** The world of a seed, with `mostReplicas` replicas or fewer. The same seed gives the same world. */
export const scheduleWorld = (seed: number, mostReplicas: number): ScheduleWorld => {
  const random = seededRandom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const ledger = new WeatheredChain(seededRandom(seed + 1));
  const fork = new WeatheredChain(seededRandom(seed + 2));
  const isLarge = below(6) === 0;
  const most = isLarge ? 220 : 24;
  const lives = sampled(escrowLives(most, isLarge ? 180 : 1), seed);
  const steps = stepsOf(ledger, lives, random);
  const forkSteps = stepsOf(fork, sampled(escrowLives(most, 1), seed + 1), random);
  for (const merchant of sampled(fc.array(anyMerchant, { maxLength: 2 }), seed))
    ledger.changeMerchant(merchant);
  const mayFork = below(3) === 0;
  const replicas = 1 + below(mostReplicas);
  const nodes = new ScheduleNodes(1 + below(3), { ledger, fork }, random);
  return { random, below, ledger, fork, steps, forkSteps, isLarge, mayFork, replicas, nodes };
};
