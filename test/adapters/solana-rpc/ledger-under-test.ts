import {
  type Cause,
  Effect,
  Exit,
  Layer,
  Logger,
  Redacted,
  Clock,
  Duration,
  Semaphore,
} from "effect";
import { broadcasterSolanaRpc } from "../../../adapters/solana-rpc/broadcast/broadcaster-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../adapters/solana-rpc/pool/node-pool.ts";
import {
  type SolanaRpcConfig,
  solanaRpcConfig,
} from "../../../adapters/solana-rpc/pool/pool-config.ts";
import type { Broadcaster } from "../../../ports/ledger/broadcaster.ts";
import type { Ledger } from "../../../ports/ledger/ledger.ts";
import type { ScriptedPeer } from "./scripted-peer.ts";
import { TestClock } from "effect/testing";
import { patientClock } from "../../doubles/patient-clock.ts";

/**
 * The TestClock, except that a wait shorter than `passingBelowMs` advances it and is recorded in `waits`. So cool-downs
 * pass at once, and timeouts only when a test advances the clock. Concurrent waits pass together, as in real time.
 */
export const virtualTime = (passingBelowMs: number, waits: Array<number>): Layer.Layer<never> =>
  Layer.effect(
    Clock.Clock,
    TestClock.testClockWith((clock) =>
      Effect.sync(() => {
        const oneMove = Semaphore.makeUnsafe(1);
        const moveTo = (ms: number) =>
          Effect.suspend(() =>
            clock.currentTimeMillisUnsafe() < ms ? clock.setTime(ms) : Effect.void,
          ).pipe(oneMove.withPermits(1));
        return {
          ...clock,
          sleep: (duration: Duration.Duration) => {
            const ms = Duration.toMillis(duration);
            if (ms >= passingBelowMs) return clock.sleep(duration);
            waits.push(ms);
            return moveTo(clock.currentTimeMillisUnsafe() + ms);
          },
        };
      }),
    ),
  ).pipe(Layer.provideMerge(patientClock()));

/** The results of a run of the adapter. */
export type Run<A, E> = {
  readonly exit: Exit.Exit<A, E>;
  /** Every wait between requests, in milliseconds of virtual time. */
  readonly waits: ReadonlyArray<number>;
  /** Everything that was logged, as text. */
  readonly logged: string;
};

const address = (peer: ScriptedPeer | URL) => Redacted.make(peer instanceof URL ? peer : peer.url);

/** The default configuration with scripted peers, and the test's changes. */
export const configOver = (
  peers: readonly [ScriptedPeer | URL, ...ReadonlyArray<ScriptedPeer | URL>],
  change: Partial<SolanaRpcConfig> = {},
): SolanaRpcConfig => {
  const [first, ...others] = peers;
  return { ...solanaRpcConfig([address(first), ...others.map(address)]), ...change };
};

/** Runs an effect at the adapter in virtual time. Waits of up to half a caller's patience pass by themselves. */
export const runOver = async <A, E>(
  config: SolanaRpcConfig,
  effect: Effect.Effect<A, E, Ledger | Broadcaster>,
): Promise<Run<A, E>> => {
  const waits: Array<number> = [];
  const lines: Array<string> = [];
  const logger = Logger.map(Logger.formatLogFmt, (line) => void lines.push(line));
  const layer = Layer.mergeAll(ledgerSolanaRpc, broadcasterSolanaRpc).pipe(
    Layer.provide(nodePool(config)),
    Layer.provideMerge(virtualTime(config.pools.single.patienceMs / 2, waits)),
    Layer.provideMerge(Logger.layer([logger])),
  );
  const exit = await Effect.runPromiseExit(Effect.provide(effect, layer));
  return { exit, waits, logged: lines.join("\n") };
};

/** The typed failure of an exit. @throws Error when it succeeded or died. */
export const failureOf = <E>(exit: Exit.Exit<unknown, E>): E => {
  if (Exit.isSuccess(exit)) throw new Error(`succeeded with ${Bun.inspect(exit.value)}`);
  const fail = exit.cause.reasons.find((reason): reason is Cause.Fail<E> => reason._tag === "Fail");
  if (fail === undefined) throw new Error(`no typed failure: ${Bun.inspect(exit.cause)}`);
  return fail.error;
};

/** The value of an exit. @throws Error when it failed. */
export const valueOf = <A>(exit: Exit.Exit<A, unknown>): A => {
  if (Exit.isFailure(exit)) throw new Error(Bun.inspect(exit.cause));
  return exit.value;
};
