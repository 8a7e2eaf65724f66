import { expect, test } from "bun:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  freePort,
  quietEnvironment,
  temporaryDirectory,
  until,
} from "../app/support/running-service.ts";
import { startShortLivedService } from "../app/support/service-process.ts";
import { alertRules } from "../pages/operator-files.ts";

const PROMETHEUS = Bun.which("prometheus");
const CONFIG = join(import.meta.dir, "../../ops/prometheus.yml");

type Alert = { readonly labels: { readonly alertname: string }; readonly state: string };

test.skipIf(PROMETHEUS === null)(
  "a Prometheus with our configuration scrapes a service on the local ledger, and alerts once it is killed",
  async () => {
    const directory = await temporaryDirectory();
    const metricsPort = freePort();
    const port = freePort();
    const service = startShortLivedService({
      ...quietEnvironment(join(directory.path, "data")),
      LOG_LEVEL: "info",
      METRICS_PORT: String(metricsPort),
    });
    const written = (await readFile(CONFIG, "utf8"))
      .replaceAll("15s", "1s")
      .replace("127.0.0.1:9464", `127.0.0.1:${metricsPort}`);
    const config = join(directory.path, "prometheus.yml");
    await writeFile(config, written);
    await writeFile(
      join(directory.path, "alerts.yml"),
      alertRules(() => "0s"),
    );
    await service.url;
    const prometheus = Bun.spawn(
      [
        PROMETHEUS ?? "prometheus",
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(directory.path, "tsdb")}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdout: "ignore", stderr: "ignore" },
    );
    const ask = async <A>(path: string): Promise<A | null> => {
      try {
        const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
        return ((await answer.json()) as { data: A }).data;
      } catch {
        return null;
      }
    };
    const valueOf = async (expr: string): Promise<string | undefined> =>
      (
        await ask<{ result: ReadonlyArray<{ value: readonly [number, string] }> }>(
          `query?query=${encodeURIComponent(expr)}`,
        )
      )?.result[0]?.value[1];
    const alerts = async (): Promise<ReadonlyArray<string>> =>
      ((await ask<{ alerts: ReadonlyArray<Alert> }>("alerts"))?.alerts ?? []).map(
        ({ labels, state }) => `${labels.alertname} ${state}`,
      );
    try {
      await until(
        "the index's first sync is seen",
        () => valueOf("settlement_evidence_index_synced_slot > 0"),
        (slot) => slot !== undefined,
        120,
      );
      const rules = await ask<{ groups: ReadonlyArray<{ rules: ReadonlyArray<unknown> }> }>(
        "rules",
      );
      expect(rules?.groups.flatMap((group) => group.rules).length).toBeGreaterThan(10);
      await until("nothing fires", alerts, (names) => names.length === 0, 120);
      service.kill("SIGKILL");
      await service.ended;
      await until("the alert fires", alerts, (names) => names.join() === "ServiceDown firing", 120);
    } finally {
      prometheus.kill();
      await prometheus.exited;
      service.kill("SIGKILL");
      await service.ended;
      await directory.remove();
    }
  },
  600_000,
);
