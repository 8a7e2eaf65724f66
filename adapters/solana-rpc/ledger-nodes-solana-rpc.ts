import { Effect, Layer } from "effect";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { type AtSlot, LedgerFloor, LedgerNodes } from "../../ports/ledger/ledger.ts";
import { parseAccounts } from "./accounts/account-json.ts";
import { NodePool } from "./pool/node-pool.ts";
import type { RpcRequest } from "./pool/pooled-node.ts";
import { isValueAtSlot } from "./transport/rpc-envelope.ts";

/** The LedgerFloor port over the pool of nodes. A slot that the ledger cannot have reached is not believed. */
export const ledgerFloorSolanaRpc: Layer.Layer<LedgerFloor, never, NodePool> = Layer.effect(
  LedgerFloor,
  Effect.map(NodePool, ({ slots }) =>
    LedgerFloor.of({ raise: (slot) => Effect.sync(() => slots.shownUpTo(Number(slot))) }),
  ),
);

/** The LedgerNodes port over Solana JSON-RPC. A node that lags answers with the older state that it has. */
export const ledgerNodesSolanaRpc: Layer.Layer<LedgerNodes, never, NodePool> = Layer.effect(
  LedgerNodes,
  Effect.gen(function* () {
    const pool = yield* NodePool;
    return LedgerNodes.of({
      count: pool.count,
      readFromEach: Effect.fn("LedgerNodes.readFromEach")((address) => {
        const request: RpcRequest<AtSlot<LedgerAccount | null>> = {
          method: "getMultipleAccounts",
          params: [[address], { encoding: "base64", commitment: "finalized" }],
          decode: (result) => {
            if (!isValueAtSlot(result)) return "malformed";
            const accounts = parseAccounts([address], result.value);
            if (accounts === undefined) return "malformed";
            return { value: { slot: BigInt(result.context.slot), value: accounts[0] ?? null } };
          },
        };
        return pool.askEach(request);
      }),
    });
  }),
);
