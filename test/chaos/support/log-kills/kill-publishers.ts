import { expect } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ChainNode } from "../../../world/chain-node.ts";
import { serveNode } from "../../../simulation/serve-node.ts";
import { worldEscrow } from "../../../simulation/world-escrow.ts";
import { worldOf } from "../../../simulation/world.ts";
import { freshPath, randomOf, SEED, tell } from "../chaos-run.ts";
import { expectIndexOf } from "../expect-index.ts";
import { PHASES, type Phase } from "./kill-switch.ts";
import { LogObserver } from "./observer.ts";
import { type PublisherEnd, runPublisher } from "./run-publisher.ts";
import type { BunPlugin } from "bun";

/** Gives the adapters counted functions of the file system. */
const countedFiles: BunPlugin = {
  name: "counted files",
  setup(build) {
    build.onResolve({ filter: /^node:fs(?:\/promises)?$/ }, ({ path, importer }) => {
      if (!importer.includes("/adapters/")) return undefined;
      const name = path === "node:fs" ? "counted-fs" : "counted-fs-promises";
      return { path: `${import.meta.dir}/${name}.ts` };
    });
  },
};

/** The script that publishes until it is killed, in one file in which the adapters' changes of files are counted. */
const countedBundle = async (): Promise<string> => {
  const { outputs } = await Bun.build({
    entrypoints: [`${import.meta.dir}/publish-until-killed.ts`],
    target: "bun",
    outdir: dirname(freshPath("script.js")),
    plugins: [countedFiles],
  });
  const [output] = outputs;
  if (output === undefined) throw new Error("the script gave no bundle");
  return output.path;
};

/** Events for more than one full tile, and as many for each change. */
const ESCROWS = 170;
const ESCROWS_A_CHANGE = 150;
const MOST_KILLS_A_STORE = 14;
/** Of the kills, the share at any time instead of at a certain operation. */
const TIMED = 0.2;

type Plan = {
  readonly kills: number;
  /** The least kills that must hit each phase. */
  readonly leastInAPhase: number;
  /** Stores that are killed at the same time. */
  readonly atOnce: number;
};

/**
 * Has processes build, follow, tile and sign logs, and kills each with SIGKILL. After each kill an observer checks all
 * that anybody could see; in the end each store and its log are the ledger's. Fails when a phase was hit too rarely.
 */
export const killPublishers = async ({ kills, leastInAPhase, atOnce }: Plan): Promise<void> => {
  const script = await countedBundle();
  const met = new Map<Phase | "between", number>();
  /** The operations of each phase, as the last process that lived counted them. */
  const operations = new Map<Phase, number>(PHASES.map((phase) => [phase, 12]));
  let tookMs = 300;
  let killed = 0;
  let stores = 0;
  let sizes = 0;

  const isHit = (phase: Phase): boolean => (met.get(phase) ?? 0) >= leastInAPhase;
  // A phase may be missed by chance. Then more kills are made, up to a limit.
  const isOver = (): boolean => killed >= kills && (PHASES.every(isHit) || killed >= 3 * kills);

  const learn = ({ counts, tookMs: took }: PublisherEnd): void => {
    for (const phase of PHASES)
      if ((counts?.[phase] ?? 0) > 0) operations.set(phase, counts?.[phase] ?? 0);
    tookMs = took;
  };

  const useStore = async (store: number, random: () => number): Promise<void> => {
    const below = (n: number): number => Math.floor(random() * n);
    const node = worldOf(ESCROWS + below(ESCROWS));
    using served = serveNode(new ChainNode(node).answer);
    const folder = dirname(freshPath("store"));
    const seed = Buffer.from(Array.from({ length: 32 }, () => below(256)));
    mkdirSync(folder, { recursive: true });
    writeFileSync(`${folder}/log-key`, `${seed.toString("base64")}\n`, { mode: 0o600 });
    const observer = new LogObserver(folder, node, seed);
    const place = { url: served.url, folder };
    const grow = (): void => {
      const first = node.escrows.size;
      for (let number = first; number < first + ESCROWS_A_CHANGE; number++)
        node.putEscrow(worldEscrow(number));
      node.slot += 50n;
    };
    let killsHere = 0;
    let isBuilt = false;
    for (let run = 1; killsHere < MOST_KILLS_A_STORE && !isOver(); run++) {
      const when = `seed ${SEED}, store ${store}, run ${run}`;
      if (isBuilt) grow();
      // Before there is an index, most kills hit its build. Then the rarest phase is next.
      const rarest = PHASES.filter((phase) => phase !== "build" || !isBuilt)
        .filter((phase) => isBuilt || phase === "build" || random() < 0.3)
        .sort((a, b) => (met.get(a) ?? 0) - (met.get(b) ?? 0));
      const phase = rarest[0] ?? "sign";
      const isTimed = random() < TIMED;
      const kill = isTimed
        ? { afterMs: random() * tookMs }
        : {
            phase,
            at: 1 + below(operations.get(phase) ?? 1),
            when: random() < 0.5 ? ("before" as const) : ("after" as const),
          };
      const ended = await runPublisher(script, place, kill);
      observer.look(ended.signed, when);
      if (ended.code === null) {
        killed += 1;
        killsHere += 1;
        const hit = ended.phase ?? "between";
        met.set(hit, (met.get(hit) ?? 0) + 1);
        isBuilt ||= ended.phase !== "build" && ended.phase !== null;
      } else {
        expect(ended.code, when).toBe(0);
        isBuilt = true;
        learn(ended);
      }
    }
    const when = `seed ${SEED}, store ${store}, the end`;
    const ended = await runPublisher(script, place, null);
    expect(ended.code, when).toBe(0);
    learn(ended);
    observer.look(ended.signed, when);
    observer.expectPublishedToTheEnd(when);
    observer.expectConsistent(when);
    await expectIndexOf(`${folder}/index.sqlite`, node);
    rmSync(folder, { recursive: true });
    sizes += observer.sizes;
    tell(
      `store ${store}: ${killsHere} kills, ${observer.sizes} sizes signed; ${killed} kills so far`,
    );
  };

  const worker = async (name: number): Promise<void> => {
    const random = randomOf(`log kill ${name}`);
    while (!isOver()) await useStore((stores += 1), random);
  };
  await Promise.all(Array.from({ length: atOnce }, (_, name) => worker(name)));
  const hits = [...met].map(([phase, times]) => `${phase} ${times}`).sort();
  tell(
    `${killed} kills (${hits.join(", ")}) in ${stores} stores: ${sizes} sizes signed, each with the ledger's root`,
  );
  for (const phase of PHASES)
    expect(met.get(phase) ?? 0, `seed ${SEED}: kills in ${phase}`).toBeGreaterThanOrEqual(
      leastInAPhase,
    );
};
