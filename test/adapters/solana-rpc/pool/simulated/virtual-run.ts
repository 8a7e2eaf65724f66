import { Clock, Effect, Fiber, Layer, Logger, Redacted } from "effect";
import { TestClock } from "effect/testing";
import { blockspaceSolanaRpc } from "../../../../../adapters/solana-rpc/broadcast/blockspace-solana-rpc.ts";
import { broadcasterSolanaRpc } from "../../../../../adapters/solana-rpc/broadcast/broadcaster-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../../../../adapters/solana-rpc/pool/pool-config.ts";
import type { Blockspace } from "../../../../../ports/ledger/blockspace.ts";
import type { Broadcaster } from "../../../../../ports/ledger/broadcaster.ts";
import type { Ledger } from "../../../../../ports/ledger/ledger.ts";
import { patientClock } from "../../../../doubles/patient-clock.ts";

/** A request as a simulated node got it, at a time of the simulation. */
export type TimedCall = {
  readonly id: number;
  readonly method: string;
  readonly params: ReadonlyArray<unknown>;
  readonly nowMs: number;
};

/** What a simulated node answers. */
export type Answer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string } }
  | { readonly status: number; readonly retryAfter: string };

/** How far the simulated time goes on in one step, milliseconds. */
const STEP_MS = 20;

const ADDRESS = new URL("http://simulated.invalid/");

const limited = ({ status, retryAfter }: Extract<Answer, { readonly status: number }>) =>
  new Response("limited", { status, headers: { "retry-after": retryAfter } });

/** Answers requests to the simulated node's address in this process; returns what ends that. */
const intercept = (answer: (call: Omit<TimedCall, "nowMs">) => Answer) => {
  const real = globalThis.fetch;
  const simulated = async (...[address, init]: Parameters<typeof fetch>): Promise<Response> => {
    const body = init?.body;
    const isOurs = address instanceof URL && address.href === ADDRESS.href;
    if (!isOurs || typeof body !== "string") return real(address, init);
    const asked = JSON.parse(body) as TimedCall | ReadonlyArray<TimedCall>;
    const calls = "method" in asked ? [asked] : asked;
    const answers = calls.map((call) => ({ id: call.id, said: answer(call) }));
    for (const { said } of answers) if ("status" in said) return limited(said);
    const bodies = answers.map(({ id, said }) => ({ jsonrpc: "2.0", id, ...said }));
    return Response.json("method" in asked ? bodies[0] : bodies);
  };
  globalThis.fetch = Object.assign(simulated, real);
  return () => {
    globalThis.fetch = real;
  };
};

/**
 * Runs an effect over the adapter's ports and one simulated node, in simulated time. Time goes on only when nothing but
 * sleeps is under way, so an answer takes none. The node needs no socket: with one, time would run while it connects.
 */
export const runSimulated = async <A, E>(
  answer: (call: TimedCall) => Answer,
  effect: Effect.Effect<A, E, Ledger | Broadcaster | Blockspace>,
): Promise<A> => {
  let now = () => 0;
  const restore = intercept((call) => answer({ ...call, nowMs: now() }));
  const url = Redacted.make(ADDRESS);
  const layer = Layer.mergeAll(ledgerSolanaRpc, broadcasterSolanaRpc, blockspaceSolanaRpc).pipe(
    Layer.provide(nodePool(solanaRpcConfig([url]))),
    Layer.provideMerge(patientClock()),
    Layer.provideMerge(Logger.layer([])),
  );
  /** Lets everything run that waits for no time. */
  const settle = Effect.promise(async () => {
    for (let turn = 0; turn < 4; turn++) await new Promise((done) => setImmediate(done));
  });
  const run = Effect.gen(function* () {
    const clock = yield* Clock.Clock;
    now = () => clock.currentTimeMillisUnsafe();
    const work = yield* Effect.forkChild(effect, { startImmediately: true });
    while (work.pollUnsafe() === undefined) {
      yield* settle;
      if (work.pollUnsafe() === undefined) yield* TestClock.adjust(STEP_MS);
    }
    return yield* Fiber.join(work);
  });
  try {
    return await Effect.runPromise(Effect.provide(run, layer));
  } finally {
    restore();
  }
};
