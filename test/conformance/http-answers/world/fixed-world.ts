import { setImmediate as nextTurn } from "node:timers/promises";
import { Context, Effect, Fiber, Redacted, Scope } from "effect";
import { TestClock } from "effect/testing";
import { MINT } from "../../../adapters/http/support/parties.ts";
import { makeService, type ServiceOptions } from "../../../adapters/http/support/service.ts";
import { evidenceSignerFromSeed } from "../../../../adapters/signer/evidence-signer.ts";
import { RelayDelivery } from "../../../../core/use-cases/relay/relay-delivery.ts";
import { LogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import { SettlementLog } from "../../../../core/use-cases/log/serving/published-log.ts";
import { LedgerPulse, makeLedgerPulse } from "../../../../core/use-cases/service/ledger-pulse.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { usdc } from "../../../core/use-cases/test-instance.ts";
import { ESCROWS } from "./escrows.ts";
import { fixedClock, LEDGER_TIME, START_MS } from "./fixed-clock.ts";
import { HISTORY } from "./history.ts";
import { OTHER_ACCOUNTS } from "./ledger-accounts.ts";
import { MERCHANTS } from "./parties.ts";

const INSTANCE = {
  supportedMints: [usdc(MINT)],
  version: "1.0.0-devnet",
  revision: "0123456789abcdef0123456789abcdef01234567",
  startedAtMs: START_MS - 42_000,
  confirmTimeoutMs: 1_000,
};

/** The evidence signer of scenes that do not set one. */
const SIGNER = evidenceSignerFromSeed(Redacted.make(new Uint8Array(32).fill(7)));

/** Wants no witness, so that the log publishes by itself and the trust document names its key. */
const NO_WITNESS = { logs: [], witnesses: [], groups: [], quorum: null } as const;

/** Turns of the event loop after which `until` gives up. */
const MOST_TURNS = 1_000;

/** Publishes the log at the index's size, and ends. */
const publishLog = Effect.gen(function* () {
  const { grown, run } = yield* LogPublisher;
  const { mark } = yield* (yield* IndexReader).summary;
  if (mark === null) throw new Error("the index has no mark");
  const running = yield* Effect.forkChild(run);
  yield* grown(mark);
  const { published } = yield* SettlementLog;
  while (((yield* published)?.checkpoint ?? null) === null) yield* Effect.yieldNow;
  yield* Fiber.interrupt(running);
});

/** A new service whose ledger, index, clock, keys and version are the same in every recording. */
export const fixedWorld = async (options: ServiceOptions = {}, isSynced = true) => {
  const waits: Array<number> = [];
  const { app, context, ledger, runtime, seed } = await makeService({
    clock: fixedClock(waits),
    signer: SIGNER,
    publicUrl: "https://evidence.example",
    appendOnlyPolicy: NO_WITNESS,
    ...options,
    instance: { ...INSTANCE, ...options.instance },
  });
  const index = Context.get(context, IndexReader);
  const writer = Context.get(context, IndexWriter);
  const relayLog = Context.get(context, OutcomeLog);
  const logStore = Context.get(context, LogStore);
  const pulse = Context.get(context, LedgerPulse);
  /** Drops cached readings of the ledger, so that each exchange reads it anew. */
  const forgetPulse = (): void => {
    const unread = Effect.provideService(makeLedgerPulse, Scope.Scope, Scope.makeUnsafe());
    Object.assign(pulse, runtime.runSync(unread));
  };

  /** Waits, without real time, until a condition holds. @throws Error when it does not within MOST_TURNS. */
  const until = async (what: string, isSo: () => boolean): Promise<void> => {
    for (let turn = 0; !isSo(); turn++) {
      if (turn === MOST_TURNS) throw new Error(`${what} did not happen`);
      await nextTurn();
    }
  };

  const pass = (ms: number): Promise<void> => runtime.runPromise(TestClock.adjust(ms));

  seed({ escrows: ESCROWS, merchants: MERCHANTS });
  for (const account of OTHER_ACCOUNTS) ledger.put(account);
  for (const transaction of HISTORY) ledger.record(transaction);
  ledger.setClock(LEDGER_TIME);
  if (isSynced) {
    const synced = await app.handle(
      new Request("http://localhost/v1/indexer/sync", { method: "POST" }),
    );
    if (synced.status !== 202) throw new Error(await synced.text());
    if (options.logSigner) await runtime.runPromise(publishLog);
  }

  const { accounts } = ledger;
  const usual = {
    fault: null,
    fate: null,
    logs: [],
    onSend: () => {},
    simulationError: null,
    isBlockhashValid: () => true,
    slot: ledger.slot,
    finality: 0n,
  };
  const services = [index, writer, relayLog, logStore].map(
    (service) => [service, { ...service }] as const,
  );

  return {
    app,
    ledger,
    index,
    writer,
    relayLog,
    logStore,
    delivery: Context.get(context, RelayDelivery),
    run: <A, E>(effect: Effect.Effect<A, E>): Promise<A> => runtime.runPromise(effect),
    until,
    pass,
    /** Moves the clock on by `passMs` as soon as the service sleeps for exactly `forMs`. */
    passOnce: async (forMs: number, passMs: number): Promise<void> => {
      await until(`a sleep of ${forMs} ms`, () => waits.includes(forMs));
      // The sleep is recorded just before the clock registers it.
      await nextTurn();
      await pass(passMs);
    },
    /** Moves the clock on by each sleep of exactly `forMs` until a promise has settled. */
    passEach: async (forMs: number, settles: Promise<unknown>): Promise<void> => {
      const over = new AbortController();
      const end = (): void => over.abort();
      settles.then(end, end);
      while (!over.signal.aborted) {
        if (waits.includes(forMs)) {
          waits.splice(waits.indexOf(forMs), 1);
          // The sleep is recorded just before the clock registers it.
          await nextTurn();
          await pass(forMs);
        }
        await nextTurn();
      }
    },
    /** Clears the recorded sleeps. */
    forgetWaits: (): void => void waits.splice(0),
    /** Undoes changes to the ledger and to the store services. Written rows, history and the clock stay. */
    restore: (): void => {
      Object.assign(ledger, usual);
      forgetPulse();
      for (const { address } of ledger.accounts) ledger.vanish(address);
      for (const account of accounts) ledger.put(account);
      for (const [service, whole] of services) Object.assign(service, whole);
    },
    end: (): Promise<void> => runtime.dispose(),
  };
};

/** See `fixedWorld`. */
export type World = Awaited<ReturnType<typeof fixedWorld>>;
