import { Effect, Redacted, Result } from "effect";
import packageJson from "../../package.json" with { type: "json" };
import { readSettings, type Settings } from "../config/settings.ts";
import { faultLines } from "../config/variable.ts";
import { checkHeldKeys } from "./check-held-keys.ts";
import { checkLedger } from "./check-ledger.ts";
import { checkLog } from "./check-log.ts";
import { checkPort } from "./check-port.ts";
import { deploymentOf, programsOf } from "../lifecycle/started-instance.ts";
import { checkStore } from "./check-store.ts";
import { checkWebSocket } from "./check-web-socket.ts";
import { checkYellowstone } from "./check-yellowstone.ts";
import { type Finding, finding, Problem } from "./finding.ts";
import { monthsBill, probeProvider, type ProviderVolume } from "./probe-provider.ts";

const checkBun = (version: string) => {
  const wanted = packageJson.engines.bun;
  return version === wanted
    ? Effect.succeed(version)
    : Effect.fail(
        new Problem({ message: `it is ${version}; install ${wanted}, or run npx bun@${wanted}` }),
      );
};

const provided = Effect.fnUntraced(function* (settings: Settings, volume: ProviderVolume) {
  const { ledger } = settings;
  const probed =
    ledger.kind === "embedded"
      ? []
      : yield* Effect.forEach(ledger.rpcUrls, (url) =>
          probeProvider(url, Redacted.value(url), deploymentOf(settings)),
        );
  return [...probed.flat(), yield* finding("calls", Effect.succeed(monthsBill(volume)))];
});

/**
 * Checks whether a service can run in an environment, and returns one finding per check. It reads the settings as the
 * service does, starts nothing and writes nothing; checks whose settings are faulty are left out. With a `volume` it
 * also probes what the nodes' provider offers, and counts what it will cost.
 */
export const diagnose = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string | undefined>>,
  bunVersion: string,
  volume: ProviderVolume | null = null,
): Effect.fn.Return<ReadonlyArray<Finding>> {
  const bun = yield* finding("bun", checkBun(bunVersion));
  const read = yield* Effect.result(readSettings(env));
  if (Result.isFailure(read)) {
    const lines = faultLines(read.failure.faults);
    return [bun, ...lines.map((text) => ({ check: "settings", ok: false, text }))];
  }
  const settings = read.success;
  const { host, metricsPort } = settings;
  const port = yield* finding("port", checkPort("PORT", host, settings.port));
  const metrics =
    metricsPort === null
      ? []
      : [yield* finding("metrics", checkPort("METRICS_PORT", host, metricsPort))];
  const { findings, genesisHash } = yield* checkLedger(settings);
  const { ledger } = settings;
  // The embedded ledger's WebSocket is in the process of its node.
  const signals =
    ledger.kind === "embedded"
      ? []
      : ledger.yellowstone === null
        ? [yield* finding("signals", checkWebSocket(ledger.webSocketUrl, programsOf(settings)))]
        : [
            yield* finding(
              "yellowstone",
              checkYellowstone(ledger.yellowstone, programsOf(settings)),
            ),
          ];
  const provider = volume === null ? [] : yield* provided(settings, volume);
  const stores = yield* checkStore(settings, genesisHash);
  const log = yield* checkLog(settings);
  const keys = yield* checkHeldKeys(settings);
  return [bun, port, ...metrics, ...findings, ...signals, ...provider, ...stores, ...log, ...keys];
});
