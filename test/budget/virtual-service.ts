import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  Clock,
  Deferred,
  Effect,
  Fiber,
  Layer,
  Logger,
  Metric,
  Queue,
  Redacted,
  Stream,
} from "effect";
import { TestClock } from "effect/testing";
import { createHttpApp } from "../../adapters/http/server/http-app.ts";
import { localGenesis } from "../../adapters/local-ledger/genesis/genesis.ts";
import { jsonRpc } from "../../adapters/local-ledger/rpc/json-rpc.ts";
import { rpcMethods } from "../../adapters/local-ledger/rpc/methods/methods.ts";
import { subscriptions } from "../../adapters/local-ledger/rpc/subscriptions/subscriptions.ts";
import { type LocalLedger, openLedger } from "../../adapters/local-ledger/runtime/ledger.ts";
import { readSettings } from "../../app/config/settings.ts";
import { serviceLayer } from "../../app/layers.ts";
import { programsOf } from "../../app/lifecycle/started-instance.ts";
import type { IndexRefused } from "../../app/stores/index-refused.ts";
import { backgroundSync } from "../../app/syncing/syncing-side.ts";
import type { Address } from "../../core/domain/address.ts";
import { parseLedgerSignature } from "../../core/domain/ledger/signature.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { LogPublisher } from "../../core/use-cases/log/log-publisher.ts";
import { type LedgerSignal, LedgerSignals } from "../../ports/ledger/ledger-signals.ts";
import { temporaryFolder } from "../adapters/local-ledger/ledger-fixture.ts";
import { patientClock } from "../doubles/patient-clock.ts";
import { CallCount } from "./call-count.ts";

const ADDRESS = new URL("http://counted.invalid/");
/** When a run begins by its own clock, milliseconds. */
const BEGINNING_MS = Date.UTC(2026, 0, 1);
/** The slots from `confirmed` to `finalized` on a cluster. */
const FINALITY_SLOTS = 32;

/** A service over a node that counts what it is asked, on a clock that a test drives. */
export type VirtualService = {
  /** What the node was asked. */
  readonly calls: CallCount;
  /** The answer to a request of the service. */
  readonly ask: (path: string, body?: object) => Promise<Response>;
  /** Waits, by the virtual clock. */
  readonly sleep: (ms: number) => Promise<void>;
  /** How far the clock goes on in one step, milliseconds. */
  stepMs: number;
};

/** What a node's WebSocket would tell of a ledger in this process. */
const signalsOf = (ledger: LocalLedger, addresses: ReadonlyArray<Address>) => {
  const feed = subscriptions(ledger);
  const changes = Stream.callback<LedgerSignal>((queue) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const named = new Map<number, Address>();
        const connection = feed.connect((text) => {
          const { params } = JSON.parse(text) as {
            params: {
              subscription: number;
              result: { context: { slot: number }; value: { signature: string; err: unknown } };
            };
          };
          const { slot } = params.result.context;
          const signature = parseLedgerSignature(params.result.value.signature);
          const names = named.get(params.subscription);
          if (params.result.value.err !== null || signature === undefined || names === undefined)
            return;
          Queue.offerUnsafe(queue, { signature, slot: BigInt(slot), names });
        });
        const subscribe = connection.methods.get("logsSubscribe");
        for (const address of addresses)
          named.set(
            Number(subscribe?.([{ mentions: [address] }, { commitment: "finalized" }])),
            address,
          );
        Queue.offerUnsafe(queue, null);
        return connection;
      }),
      (connection) => Effect.sync(connection.close),
    ),
  );
  return {
    layer: Layer.succeed(
      LedgerSignals,
      LedgerSignals.of({
        changes,
        standing: Effect.succeed({ isLive: true, isSilent: false, failures: 0 }),
      }),
    ),
    stop: feed.stop,
  };
};

/** Answers requests to the node's address in this process, and counts them; returns what ends that. */
const intercept = (ledger: LocalLedger, calls: CallCount) => {
  const methods = rpcMethods(ledger, { holdUntilConfirmed: () => undefined });
  const answer = jsonRpc((name) => methods.get(name));
  const real = globalThis.fetch;
  const counted = async (...[address, init]: Parameters<typeof fetch>): Promise<Response> => {
    const body = init?.body;
    const isOurs = address instanceof URL && address.href === ADDRESS.href;
    if (!isOurs || typeof body !== "string") return real(address, init);
    const asked = JSON.parse(body) as
      | { readonly method: string }
      | ReadonlyArray<{ method: string }>;
    const text = (answer(body) ?? []).join("");
    for (const { method } of "method" in asked ? [asked] : asked) calls.add(method, text.length);
    return new Response(text, { headers: { "content-type": "application/json" } });
  };
  globalThis.fetch = Object.assign(counted, real);
  return () => {
    globalThis.fetch = real;
  };
};

/** Turns of the event loop that files and stores take at most, after a call and at any other time. */
const TURNS_AFTER_CALL = 200;
const QUIET_TURNS = 12;
/** The steps after a call in which its answer may still be worked on. */
const STEPS_AFTER_CALL = 3;

/** Lets everything run that waits for no time. */
const settling = (calls: CallCount) => {
  let asked = -1;
  let stepsLeft = 0;
  return async (): Promise<void> => {
    stepsLeft = Math.max(0, stepsLeft - 1);
    for (;;) {
      const turns = stepsLeft > 0 ? TURNS_AFTER_CALL : QUIET_TURNS;
      for (let turn = 0; turn < turns; turn++) await new Promise((done) => setImmediate(done));
      if (asked === calls.all) return;
      asked = calls.all;
      stepsLeft = STEPS_AFTER_CALL;
    }
  };
};

/**
 * Runs a whole service over a local ledger with the demo data, in this process and in virtual time, and drives it. Time
 * goes on only when nothing but sleeps is under way. A slot takes 400 ms, and finality 32 slots, as on a cluster.
 */
export const withVirtualService = async <A>(
  drive: (service: VirtualService) => Promise<A>,
): Promise<A> => {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "data");
  mkdirSync(dataDir, { recursive: true });
  const calls = new CallCount();
  const run = Effect.gen(function* () {
    yield* TestClock.setTime(BEGINNING_MS);
    const clock = yield* Clock.Clock;
    const ledger = openLedger({
      directory: join(folder.path, "ledger"),
      genesis: localGenesis({ demo: true }),
      finalitySlots: FINALITY_SLOTS,
      time: { nowMs: () => clock.currentTimeMillisUnsafe() },
    });
    const restore = intercept(ledger, calls);
    yield* Effect.addFinalizer(() => Effect.sync(restore));
    const url = Redacted.make(ADDRESS);
    const settings = yield* readSettings({
      DATA_DIR: dataDir,
      SOLANA_RPC_URL: ADDRESS.href,
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
      webSocketUrl: url,
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
    const signals = signalsOf(ledger, programsOf(settings));
    yield* Effect.addFinalizer(() => Effect.sync(signals.stop));
    const app = createHttpApp({ context });
    yield* LogPublisher.use(({ run }) => run).pipe(Effect.provide(context), Effect.forkScoped);
    yield* backgroundSync(settings.syncIntervalSeconds).pipe(
      Effect.provide(signals.layer),
      Effect.provide(context),
      Effect.forkScoped,
    );
    const service: VirtualService = {
      calls,
      ask: (path, body) =>
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
      sleep: (ms) => Effect.runPromiseWith(context)(Effect.sleep(ms)),
      stepMs: 50,
    };
    const work = yield* Effect.forkChild(
      Effect.promise(() => drive(service)),
      { startImmediately: true },
    );
    const settle = settling(calls);
    while (work.pollUnsafe() === undefined) {
      yield* Effect.promise(settle);
      if (work.pollUnsafe() !== undefined) break;
      yield* TestClock.adjust(service.stepMs);
      // Reading the slot ends the one before it.
      ledger.slots.current();
    }
    return yield* Fiber.join(work);
  });
  try {
    return await Effect.runPromise(
      run.pipe(Effect.scoped, Effect.provide(Layer.merge(patientClock(), Logger.layer([])))),
    );
  } finally {
    rmSync(folder.path, { recursive: true, force: true });
  }
};
