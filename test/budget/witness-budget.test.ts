import { expect, test } from "bun:test";
import { Clock, Effect, Layer, Redacted } from "effect";
import { witnessStateMemory } from "../../adapters/memory/witness-state.ts";
import { ledgerSolanaRpc } from "../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../adapters/solana-rpc/pool/pool-config.ts";
import { accountNewsWebSocket } from "../../adapters/solana-rpc/signals/account-news-web-socket.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { makeWitness } from "../../core/use-cases/witness/witness.ts";
import { LogSource } from "../../ports/log/log-source.ts";
import { WitnessKey } from "../../ports/log/witness-state.ts";
import { totalOf } from "./call-count.ts";
import { NODE_ADDRESS, NODE_SOCKET, withVirtualNode } from "./virtual-node.ts";

/** A sixth of an hour. */
const SAMPLE_MS = 600_000;
/** The most calls of a node in an hour of a witness that follows its news, and without them. */
const WITH_NEWS = 180;
const WITHOUT_NEWS = 1_860;

/** What a witness that nobody offers anything asks its node for in ten minutes, once it runs. */
const callsAtRest = (socket: URL): Promise<ReadonlyMap<string, number>> =>
  withVirtualNode(({ time, clock }) =>
    Effect.gen(function* () {
      const ledger = Layer.provide(
        ledgerSolanaRpc,
        nodePool(solanaRpcConfig([Redacted.make(NODE_ADDRESS)])),
      );
      const around = Layer.mergeAll(
        ledger,
        Layer.succeed(Clock.Clock, clock),
        accountNewsWebSocket(Redacted.make(socket)),
        witnessStateMemory,
        Layer.mock(LogSource, {}),
        Layer.mock(WitnessKey, { name: "w.example", publicKey: new Uint8Array(32) }),
      );
      const context = yield* Layer.build(around);
      yield* makeWitness({ logs: [], deployment: LOCAL_DEPLOYMENT }).pipe(Effect.provide(context));
      const sleep = (ms: number) => Effect.runPromiseWith(context)(Effect.sleep(ms));
      return async () => {
        await sleep(60_000);
        time.stepMs = 500;
        time.calls.take();
        await sleep(SAMPLE_MS);
        return time.calls.take();
      };
    }),
  );

test.each([
  ["whose node tells it of changes", NODE_SOCKET, WITH_NEWS],
  ["without a WebSocket", new URL("ws://nobody.invalid/"), WITHOUT_NEWS],
])(
  "a witness %s asks it no more often than docs/nodes.md says",
  async (_, socket, most) => {
    const calls = await callsAtRest(socket);
    const told = [...calls].map(([method, count]) => `${method} ${count}`).join(", ");
    const anHour = 6 * totalOf(calls);
    if (process.env["TELL_CALLS"] === "true")
      console.log(`an hour: ${anHour}; in ten minutes: ${told}`);
    expect([anHour <= most, told]).toEqual([true, told]);
    expect(anHour).toBeGreaterThan(most / 2);
  },
  60_000,
);
