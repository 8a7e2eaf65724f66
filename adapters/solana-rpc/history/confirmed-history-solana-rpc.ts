import { Effect, Layer } from "effect";
import { ConfirmedHistory } from "../../../ports/ledger/confirmed-ledger.ts";
import { refusalAsUnavailable } from "../pool/fail-over.ts";
import { NodePool } from "../pool/node-pool.ts";
import { parseHistory } from "./ledger-archive-solana-rpc.ts";
import { transactionAt } from "./transaction-at.ts";

/** The most signatures in one page (Agave `rpc-client-types`, `MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT`). */
const MAX_SIGNATURES = 1000;

/** The ConfirmedHistory port over the pool of nodes: one request for a list, and one for a transaction. */
export const confirmedHistorySolanaRpc: Layer.Layer<ConfirmedHistory, never, NodePool> =
  Layer.effect(
    ConfirmedHistory,
    Effect.map(NodePool, (pool) =>
      ConfirmedHistory.of({
        recent: Effect.fn("ConfirmedHistory.recent")(
          (address) =>
            pool.call({
              method: "getSignaturesForAddress",
              params: [address, { commitment: "confirmed", limit: MAX_SIGNATURES }],
              decode: (result) => {
                const parsed = parseHistory(result);
                return parsed === undefined || parsed.length > MAX_SIGNATURES
                  ? "malformed"
                  : { value: parsed };
              },
            }),
          refusalAsUnavailable,
        ),
        transaction: Effect.fn("ConfirmedHistory.transaction")((signature) =>
          transactionAt(pool, signature, "confirmed"),
        ),
      }),
    ),
  );
