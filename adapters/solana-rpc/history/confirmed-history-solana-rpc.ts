import { Effect, Layer } from "effect";
import { ConfirmedHistory } from "../../../ports/ledger/confirmed-ledger.ts";
import { refusalAsUnavailable } from "../pool/fail-over.ts";
import { NodePool } from "../pool/node-pool.ts";
import { parseHistory, parseTransaction } from "./ledger-archive-solana-rpc.ts";

/** The most signatures in one page (Agave `rpc-client-types`, `MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT`). */
const MAX_SIGNATURES = 1000;
/** Transaction versions are u8. Accounts and instructions have the same form in every version. */
const ANY_VERSION = 255;

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
          pool
            .call({
              method: "getTransaction",
              params: [
                signature,
                {
                  encoding: "json",
                  commitment: "confirmed",
                  maxSupportedTransactionVersion: ANY_VERSION,
                },
              ],
              mayShare: true,
              decode: (result) => {
                const parsed = parseTransaction(signature, result);
                return parsed === undefined ? "malformed" : { value: parsed };
              },
            })
            .pipe(
              // This node cannot show the transaction.
              Effect.catchTag("RpcRefusal", () => Effect.succeed(null)),
            ),
        ),
      }),
    ),
  );
