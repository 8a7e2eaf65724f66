import { Effect, Layer } from "effect";
import type { LedgerTransaction } from "../../../core/domain/ledger/history.ts";
import { parseLedgerSignature } from "../../../core/domain/ledger/signature.ts";
import { type ArchivePage, LedgerArchive } from "../../../ports/ledger/ledger-archive.ts";
import { LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import { NodePool } from "../pool/node-pool.ts";
import type { RpcRequest } from "../pool/pooled-node.ts";
import { refusalAsUnavailable } from "../pool/refusal-as-unavailable.ts";
import { monotonicMs } from "../../../core/use-cases/monotonic-time.ts";
import { NodeFault, NodeUnable, RpcRefusal } from "../transport/rpc-failure.ts";
import { parseTransaction } from "./history-json.ts";

/** Transactions of one answer: what every plan of the provider allows with all details. */
const PAGE = 100;
/** How long nodes that do not know the method are not asked for it again, milliseconds. */
const ASK_AGAIN_MS = 3_600_000;

/** A page of getTransactionsForAddress with `transactionDetails: "full"` (Helius), undefined for other JSON. */
export const parseArchivePage = (json: unknown): ArchivePage | undefined => {
  if (typeof json !== "object" || json === null) return undefined;
  const { data, paginationToken = null } = json as Readonly<Record<string, unknown>>;
  if (!Array.isArray(data)) return undefined;
  if (paginationToken !== null && typeof paginationToken !== "string") return undefined;
  const transactions: Array<LedgerTransaction> = [];
  for (const one of data as ReadonlyArray<unknown>) {
    const { transaction } = (one ?? {}) as {
      readonly transaction?: { readonly signatures?: unknown };
    };
    const [text] = Array.isArray(transaction?.signatures) ? transaction.signatures : [];
    const signature = typeof text === "string" ? parseLedgerSignature(text) : undefined;
    const parsed = signature === undefined ? undefined : parseTransaction(signature, one);
    if (parsed === undefined || parsed === null) return undefined;
    transactions.push(parsed);
  }
  return { transactions, next: paginationToken === "" ? null : paginationToken };
};

const mayNotOffer = (failure: { readonly _tag: string; readonly cause?: unknown }): boolean => {
  const { cause } = failure;
  if (cause instanceof NodeUnable) return cause.kind !== "behind";
  if (cause instanceof NodeFault) return cause.kind === "unwell" || cause.kind === "malformed";
  return cause instanceof RpcRefusal;
};

/** The LedgerArchive port over getTransactionsForAddress. Whether nodes offer it is found out by asking. */
export const ledgerArchiveSolanaRpc: Layer.Layer<LedgerArchive, never, NodePool> = Layer.effect(
  LedgerArchive,
  Effect.gen(function* () {
    const pool = yield* NodePool;
    let isOffered = false;
    let notOfferedMs: number | null = null;
    return {
      transactionsOf: Effect.fn("LedgerArchive.transactionsOf")(function* (address, cursor) {
        const nowMs = yield* monotonicMs;
        if (notOfferedMs !== null && nowMs - notOfferedMs < ASK_AGAIN_MS) return null;
        const request: RpcRequest<ArchivePage> = {
          method: "getTransactionsForAddress",
          params: [
            address,
            {
              transactionDetails: "full",
              sortOrder: "asc",
              limit: PAGE,
              encoding: "json",
              commitment: "finalized",
              maxSupportedTransactionVersion: 0,
              filters: { status: "succeeded" },
              ...(cursor === null ? {} : { paginationToken: cursor }),
            },
          ],
          pool: "single",
          decode: (result) => {
            const page = parseArchivePage(result);
            return page === undefined ? "malformed" : { value: page };
          },
        };
        const page = yield* pool.call(request).pipe(
          refusalAsUnavailable,
          Effect.catchIf(
            (failure) => !isOffered && mayNotOffer(failure),
            () => Effect.succeed(null),
          ),
        );
        if (page === null) {
          notOfferedMs = nowMs;
          return null;
        }
        isOffered = true;
        if (page.next !== null && page.next === cursor)
          return yield* new LedgerUnavailable({
            retryable: true,
            cause: new Error("a node's transactions stay at one cursor"),
          });
        return page;
      }),
    };
  }),
);
