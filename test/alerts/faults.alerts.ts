import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { OPERATOR_ALERTS } from "../../adapters/http/operator/operator-alerts.ts";
import { startGate } from "../app/support/gate.ts";
import { runService, temporaryDirectory, until } from "../app/support/running-service.ts";
import { environmentOn } from "../chaos/support/service-environment.ts";
import { watchStores } from "../chaos/support/kills/opened-stores.ts";
import { serveNode } from "../simulation/serve-node.ts";
import { worldOf } from "../simulation/world.ts";
import { ChainNode } from "../world/chain-node.ts";
import { tmpdir } from "../temporary-root.ts";
import { differences, PROMTOOL, type Samples, samplesOf } from "./promtool.ts";
import { ESCROWS, type Fault, FAULTS, mount, type Place } from "./planted-faults.ts";

const RULES = join(import.meta.dir, "../../ops/alerts.yml");
const SECONDS = 120;
const LONG_MS = 600_000;

/** The names on the operator's page. */
const warned = async (url: string): Promise<ReadonlyArray<string>> => {
  const page = await (await fetch(url, { headers: { accept: "text/html" } })).text();
  return [...new Set(Array.from(page.matchAll(/<strong>(\w+)<\/strong>:/g), (m) => m[1] ?? ""))];
};

/** A scrape between two looks at the page that both warn of exactly these. */
const scrapedAs = async (url: string, alerts: ReadonlyArray<string>): Promise<Samples> => {
  const want = JSON.stringify(alerts.toSorted());
  const { text } = await until(
    `the page warns of ${want}`,
    async () => {
      const before = await warned(url);
      const text = await (await fetch(`${url}/metrics`)).text();
      return { names: [before, await warned(url)], text };
    },
    ({ names }) => names.every((each) => JSON.stringify(each.toSorted()) === want),
    SECONDS,
  ).catch((cause: unknown) => {
    // The scrapes are long; the names say what differs.
    throw new Error(String(cause).replace(/"text":.*/s, ""));
  });
  return samplesOf(text);
};

/** Mounting a file system takes root, and a container may be denied it. */
const canMount = (): boolean => {
  const folder = mkdtempSync(join(tmpdir(), "settlement-mount-"));
  try {
    return mount("-t", "tmpfs", "-o", "size=8m", "tmpfs", folder);
  } finally {
    Bun.spawnSync(["umount", folder], { stderr: "ignore" });
    rmSync(folder, { recursive: true, force: true });
  }
};
const isSkipped = ({ mounts = false }: Fault): boolean =>
  PROMTOOL === null || (mounts && !canMount());

for (const [name, fault] of Object.entries(FAULTS))
  test.skipIf(isSkipped(fault))(
    name,
    async () => {
      const { alerts, settings, before, breaks, heals } = fault;
      const directory = await temporaryDirectory();
      const dataDir = join(directory.path, "data");
      const chain = worldOf(ESCROWS);
      const truth = new ChainNode(chain).answer;
      let other: Parameters<Place["answers"]>[0] = null;
      using served = serveNode((call) => other?.(call) ?? truth(call));
      const gate = startGate();
      gate.passTo(served.url);
      using stores = watchStores();
      const place: Place = {
        isThere: (there) => gate.passTo(there ? served.url : null),
        chain,
        dataDir,
        stores: stores.opened,
        answers: (next) => {
          other = next;
        },
      };
      await before?.(place);
      const service = await runService({
        ...environmentOn(gate.url, dataDir),
        METRICS_PORT: "0",
        ...settings?.(dataDir),
      });
      try {
        const url = service.metricsUrl ?? "";
        const moments: Array<{ samples: Samples; fires: ReadonlyArray<string> }> = [];
        const see = async (fires: ReadonlyArray<string>) => {
          moments.push({ samples: await scrapedAs(url, fires), fires });
        };
        if (breaks !== undefined) {
          await until(
            "the first sync is complete",
            async () => (await fetch(`${service.url}/ready`)).status,
            (status) => status === 200,
            SECONDS,
          );
          await see([]);
          await breaks(place, service.url);
        }
        await see(alerts);
        if (heals !== undefined) {
          await heals(place);
          await see([]);
        }
        expect(await differences(RULES, [{ name, moments }])).toBeNull();
      } finally {
        await service.stop();
        await gate.stop();
        Bun.spawnSync(["umount", dataDir], { stderr: "ignore" });
        await directory.remove();
      }
    },
    LONG_MS,
  );

test("every alert of the page has a fault here", () => {
  const planted = new Set(Object.values(FAULTS).flatMap(({ alerts }) => alerts));
  expect([...planted, "ServiceDown"].toSorted()).toEqual(
    OPERATOR_ALERTS.map(({ name }) => name).toSorted(),
  );
});
