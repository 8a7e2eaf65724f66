import { Effect, Layer, Schema } from "effect";
import { type Address, parseAddress } from "../../core/domain/address.ts";
import { CLOCK_SYSVAR, RENT_SYSVAR } from "../../core/protocol/addresses/well-known-addresses.ts";
import type { HistoryPage } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import {
  AskAnotherNode,
  type Commitment,
  Ledger,
  type LedgerFailure,
  MOST_DATA_BYTES,
  NodeCount,
} from "../../ports/ledger/ledger.ts";
import { NodeReports } from "../../ports/ledger/node-reports.ts";
import { LedgerCalls } from "../../ports/ledger/ledger-calls.ts";
import { LedgerRecord } from "../../ports/ledger/ledger-record.ts";
import { parseAccounts } from "./accounts/account-json.ts";
import { askAtSlot } from "./pool/ask-at-slot.ts";
import { parseHistory } from "./history/ledger-archive-solana-rpc.ts";
import { transactionAt } from "./history/transaction-at.ts";
import { NodePool } from "./pool/node-pool.ts";
import type { RpcRequest } from "./pool/pooled-node.ts";
import { programAccounts } from "./accounts/program-accounts.ts";
import { refusalAsUnavailable } from "./pool/fail-over.ts";
import type { RpcRefusal } from "./transport/rpc-failure.ts";

/** The most addresses in one getMultipleAccounts (Agave `rpc-client-types`, `MAX_MULTIPLE_ACCOUNTS`). */
const MAX_ACCOUNTS = 100;
/** The most signatures in one page (Agave `rpc-client-types`, `MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT`). */
const MAX_SIGNATURES = 1000;

/** How long a tip waits for nodes that lag by more than 32 slots, milliseconds. */
const TIP_PATIENCE_MS = 2_000;
const SYSVARS: ReadonlySet<string> = new Set([CLOCK_SYSVAR, RENT_SYSVAR]);

const isEpochInfo = Schema.is(
  Schema.Struct({ absoluteSlot: Schema.Natural, blockHeight: Schema.Natural }),
);

const ledger: Layer.Layer<Ledger, never, NodePool> = Layer.effect(
  Ledger,
  Effect.gen(function* () {
    const pool = yield* NodePool;

    const askGenesisHash = pool
      .call({
        method: "getGenesisHash",
        params: [],
        // A hash is 32 bytes in base58, like an address.
        decode: (result) =>
          typeof result === "string" && parseAddress(result) !== undefined
            ? { value: result }
            : "malformed",
      })
      .pipe(refusalAsUnavailable, Effect.withSpan("Ledger.genesisHash"));

    const genesisHash = Effect.suspend(() => {
      const { recorded } = pool.identity;
      return recorded === null ? askGenesisHash : Effect.succeed(recorded);
    });

    const tip = Effect.fn("Ledger.tip")(function* (commitment: Commitment) {
      const { slots } = pool;
      const lowest = slots.lowestTip(commitment);
      return yield* pool.call({
        method: "getEpochInfo",
        params: [{ commitment, ...(lowest > 0 ? { minContextSlot: lowest } : {}) }],
        // Probes of the service's health ask for tips: a node that lags far behind must show soon.
        // A relay needs a tip as new as its blockhash, and waits for it.
        ...(slots.awaitsTip(commitment) ? {} : { behindPatienceMs: TIP_PATIENCE_MS }),
        decode: (result) => {
          if (!isEpochInfo(result)) return "malformed";
          const { absoluteSlot: slot, blockHeight } = result;
          const judgement = slots.judge(lowest, slot);
          if (judgement !== "fine") return judgement;
          const newest = slots.newestTip(commitment, { slot, blockHeight });
          if (newest === undefined) return "behind";
          return { value: { slot: BigInt(newest.slot), blockHeight: BigInt(newest.blockHeight) } };
        },
      });
    }, refusalAsUnavailable);

    // Without a span, which costs a fiftieth of a read.
    const readAccounts: Ledger["Service"]["readAccounts"] = (
      addresses,
      commitment,
      mostDataBytes = MOST_DATA_BYTES,
      notBefore,
    ) => {
      if (addresses.length > MAX_ACCOUNTS)
        return Effect.die(new Error(`${addresses.length} accounts in one read`));
      const asking = askAtSlot(pool, {
        method: "getMultipleAccounts",
        args: [addresses],
        options: {
          encoding: "base64",
          ...(Number.isFinite(mostDataBytes)
            ? { dataSlice: { offset: 0, length: mostDataBytes } }
            : {}),
        },
        commitment,
        // Sysvars are read along with accounts, to date them. They are there at every slot.
        accounts: addresses.filter((address) => !SYSVARS.has(address)),
        notBefore,
        parse: (value) => parseAccounts(addresses, value, mostDataBytes),
        isAbsence: (value) => value.includes(null),
      });
      return refusalAsUnavailable(asking);
    };

    /**
     * Succeeds once a node has finalized a slot. Some nodes take `minContextSlot` of getSignaturesForAddress for a
     * filter of the list, so it is never sent there. Callers must accept a list that is late.
     */
    const slotReached = (lowest: number): RpcRequest<void> => ({
      method: "getEpochInfo",
      params: [{ commitment: "finalized" }],
      decode: (result) => {
        if (!isEpochInfo(result)) return "malformed";
        const judgement = pool.slots.judge(lowest, result.absoluteSlot);
        return judgement === "fine" ? { value: undefined } : judgement;
      },
    });

    const history = Effect.fn("Ledger.history")(function* (
      address: Address,
      before: LedgerSignature | null,
      needsStart?: (entries: HistoryPage["entries"]) => boolean,
    ): Effect.fn.Return<HistoryPage, LedgerFailure | RpcRefusal> {
      const lowest = pool.slots.floors.of("finalized", [address]);
      const entriesBehind: RpcRequest<HistoryPage["entries"]> = {
        method: "getSignaturesForAddress",
        params: [
          address,
          {
            commitment: "finalized",
            limit: MAX_SIGNATURES,
            ...(before === null ? {} : { before }),
          },
        ],
        decode: (result) => {
          const parsed = parseHistory(result);
          if (parsed === undefined || parsed.length > MAX_SIGNATURES) return "malformed";
          return { value: parsed };
        },
      };
      const reached = lowest > 0 ? slotReached(lowest) : undefined;
      const [entries, keptFrom] = yield* pool.callWithHistoryStart(entriesBehind, {
        before: reached,
        isNeeded: needsStart,
      });
      return { entries, keptFrom };
    }, refusalAsUnavailable);

    const transaction = Effect.fn("Ledger.transaction")((signature: LedgerSignature) =>
      transactionAt(pool, signature, "finalized"),
    );

    return Ledger.of({
      genesisHash,
      confirmIdentity: Effect.asVoid(askGenesisHash),
      tip,
      readAccounts,
      programAccounts: programAccounts(pool),
      history,
      transaction,
    });
  }),
);

/** The Ledger port over Solana JSON-RPC, with `LedgerRecord`, `AskAnotherNode`, `NodeCount`, `NodeReports` and `LedgerCalls`. */
export const ledgerSolanaRpc: Layer.Layer<Ledger, never, NodePool> = Layer.mergeAll(
  ledger,
  Layer.effect(
    LedgerRecord,
    NodePool.use(({ identity }) =>
      Effect.succeed({
        adopt: (genesisHash: string) => Effect.sync(() => identity.adopt(genesisHash)),
        state: Effect.sync(() => ({
          genesisHash: identity.recorded,
          standing: identity.standing,
        })),
      }),
    ),
  ),
  Layer.effect(
    LedgerCalls,
    NodePool.use(({ calls }) => Effect.succeed(Effect.sync(() => calls.counts))),
  ),
  Layer.effect(
    NodeReports,
    NodePool.use(({ reports }) => Effect.succeed(reports)),
  ),
  Layer.effect(
    AskAnotherNode,
    NodePool.use(({ askAnother }) => Effect.succeed(askAnother)),
  ),
  Layer.effect(
    NodeCount,
    NodePool.use(({ count }) => Effect.succeed(count)),
  ),
);
