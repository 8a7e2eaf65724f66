import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { startShortLivedService } from "../app/support/service-process.ts";
import { ChainNode } from "../world/chain-node.ts";
import { openIndexOfNode } from "../simulation/index-of-node.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldOf } from "../simulation/world.ts";
import { amountOf, freshPath, LONG_MS, randomOf, SEED, tell } from "./support/chaos-run.ts";
import { environmentOn } from "./support/service-environment.ts";

const DAMAGED = amountOf({ quick: 6, long: 60 });
const ESCROWS = 300;

/** A service on a copy of the store, damaged before it starts. */
const startOn = (url: string, store: string, damage: (path: string) => void) => {
  const dataDir = dirname(freshPath("index.sqlite"));
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, "index.sqlite");
  copyFileSync(store, path);
  damage(path);
  const env = { ...environmentOn(url, dataDir), LOG_LEVEL: "info", SYNC_INTERVAL_SECONDS: "0" };
  return { path, service: startShortLivedService(env) };
};

const overwrite = (path: string, from: number, to: number): void => {
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, from, to));
};

const world = async () => {
  const node = worldOf(ESCROWS);
  const served = serveNode(new ChainNode(node).answer);
  const store = freshPath("whole.sqlite");
  const index = await openIndexOfNode({ url: served.url, path: store });
  await index.sync();
  await index.close();
  return { node, served, store };
};

test(
  "a store that is not a database, is cut short or lacks its head ends the service, which names it",
  async () => {
    const { served, store } = await world();
    using _ = served;
    const size = readFileSync(store).length;
    const damages: Readonly<Record<string, (path: string) => void>> = {
      garbage: (path) => overwrite(path, 0, size),
      head: (path) => overwrite(path, 0, 100),
      schema: (path) => overwrite(path, 100, 4096),
      short: (path) => truncateSync(path, 5000),
    };
    for (const [what, damage] of Object.entries(damages)) {
      const { path, service } = startOn(served.url, store, damage);
      const { code, stderr } = await service.ended;
      expect(code, what).toBe(1);
      expect(stderr, what).toContain(path);
    }
  },
  LONG_MS,
);

const NEVER = new Promise<never>(() => {});

type Page = {
  readonly data: ReadonlyArray<{ readonly escrow_pda: string; readonly amount_stroops: string }>;
};

test(
  "a store with damaged pages returns correct rows or none",
  async () => {
    const { node, served, store } = await world();
    using _ = served;
    const random = randomOf("pages");
    const size = readFileSync(store).length;
    const outcomes: Record<string, number> = {};
    for (let round = 0; round < DAMAGED; round++) {
      const when = `seed ${SEED}, round ${round}`;
      const page = 1 + Math.floor(random() * (size / 4096 - 1));
      const pages = 1 + Math.floor(random() * 8);
      const { path, service } = startOn(served.url, store, (path) =>
        overwrite(path, page * 4096, Math.min(size, (page + pages) * 4096)),
      );
      const asked = async (url: string): Promise<string> => {
        const ask = () =>
          fetch(`${url}/v1/indexer?limit=500`)
            .then(async (answer) => ({ status: answer.status, text: await answer.text() }))
            .catch(() => null);
        const opened = performance.now() + 5000;
        let answer = await ask();
        // The service listens before its store is open.
        while (answer?.status === 503 && performance.now() < opened) {
          await Bun.sleep(50);
          answer = await ask();
        }
        // It ends, whether or not that is seen yet. That is then the outcome.
        if (answer === null) return NEVER;
        if (answer.status !== 200) return String(answer.status);
        for (const row of (JSON.parse(answer.text) as Page).data) {
          const known = [...node.escrows.values()].find((one) => one.address === row.escrow_pda);
          expect(row.amount_stroops, when).toBe(String(known?.amount));
        }
        return "200";
      };
      const outcome = await Promise.race([
        service.ended.then(({ code, stderr }) => {
          expect(code, when).toBe(1);
          expect(stderr, when).toContain(path);
          return "ended";
        }),
        // It may also end before it listens.
        service.url.then(asked, () => NEVER),
      ]);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      service.kill("SIGKILL");
      await service.ended;
    }
    tell(`${DAMAGED} damaged stores: ${JSON.stringify(outcomes)}`);
    expect(Object.keys(outcomes).filter((one) => !["200", "503", "ended"].includes(one))).toEqual(
      [],
    );
  },
  LONG_MS,
);
