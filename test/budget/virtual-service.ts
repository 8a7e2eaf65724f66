import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Clock, Deferred, Effect, Layer, Logger, Metric, Redacted } from "effect";
import { createHttpApp } from "../../adapters/http/server/http-app.ts";
import { readSettings } from "../../app/config/settings.ts";
import { serviceLayer } from "../../app/layers.ts";
import { signalsOfLedger } from "../../app/lifecycle/signals-of-ledger.ts";
import type { IndexRefused } from "../../app/stores/index-refused.ts";
import { backgroundSync } from "../../app/syncing/syncing-side.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { LogPublisher } from "../../core/use-cases/log/log-publisher.ts";
import {
  BEGINNING_MS,
  NODE_ADDRESS,
  NODE_SOCKET,
  type VirtualTime,
  withVirtualNode,
} from "./virtual-node.ts";

/** A service over a node that counts what it is asked, on a clock that a test drives. */
export type VirtualService = VirtualTime & {
  /** The answer to a request of the service. */
  readonly ask: (path: string, body?: object) => Promise<Response>;
  /** Waits, by the virtual clock. */
  readonly sleep: (ms: number) => Promise<void>;
};

/** Runs a whole service over a node in this process and in virtual time, and drives it. */
export const withVirtualService = <A>(drive: (service: VirtualService) => Promise<A>): Promise<A> =>
  withVirtualNode(
    Effect.fnUntraced(function* ({ time, clock, folder }) {
      const dataDir = join(folder, "data");
      mkdirSync(dataDir, { recursive: true });
      const url = Redacted.make(NODE_ADDRESS);
      const settings = yield* readSettings({
        DATA_DIR: dataDir,
        SOLANA_RPC_URL: NODE_ADDRESS.href,
        SOLANA_CLUSTER: "localnet",
        CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
        ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
        LOG_LEVEL: "error",
        RATE_LIMIT_READS: "100000",
        RATE_LIMIT_PREPARE: "100000",
        RATE_LIMIT_RELAY: "100000",
      });
      const started = {
        settings,
        dataDir,
        rpcUrls: [url] as const,
        webSocketUrl: Redacted.make(NODE_SOCKET),
        startedAtMs: BEGINNING_MS,
      };
      const refused = yield* Deferred.make<never, IndexRefused>();
      const context = yield* Layer.build(
        Layer.provideMerge(
          serviceLayer(started, refused),
          Layer.mergeAll(
            Layer.succeed(Clock.Clock, clock),
            Layer.succeed(Metric.MetricRegistry, new Map()),
            Logger.layer([]),
          ),
        ),
      );
      const app = createHttpApp({ context });
      yield* LogPublisher.use(({ run }) => run).pipe(Effect.provide(context), Effect.forkScoped);
      yield* backgroundSync(settings.syncIntervalSeconds).pipe(
        Effect.provide(signalsOfLedger(started)),
        Effect.provide(context),
        Effect.forkScoped,
      );
      const service: VirtualService = Object.assign(time, {
        ask: (path: string, body?: object) =>
          app.handle(
            new Request(
              `http://service.invalid${path}`,
              body === undefined
                ? {}
                : {
                    method: "POST",
                    headers: { "content-type": "application/json" },
                    body: JSON.stringify(body),
                  },
            ),
          ),
        sleep: (ms: number) => Effect.runPromiseWith(context)(Effect.sleep(ms)),
      });
      return () => drive(service);
    }),
  );
