import { Effect, Layer, Schema } from "effect";
import { type Address, parseAddress } from "../../core/domain/address.ts";
import type { HistoryPage } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import {
  type Commitment,
  Ledger,
  type LedgerFailure,
  MOST_DATA_BYTES,
} from "../../ports/ledger.ts";
import { AskAnotherNode } from "../../ports/ask-another-node.ts";
import { parseAccounts } from "./accounts/account-json.ts";
import { askAtSlot, type SlotQuestion } from "./pool/ask-at-slot.ts";
import { parseHistory, parseTransaction } from "./history/history-json.ts";
import { NodePool } from "./pool/node-pool.ts";
import type { RpcRequest } from "./pool/pooled-node.ts";
import { programAccounts } from "./accounts/program-accounts.ts";
import { refusalAsUnavailable } from "./pool/refusal-as-unavailable.ts";
import type { RpcRefusal } from "./transport/rpc-failure.ts";

/** The most addresses in one getMultipleAccounts (Agave `rpc-client-types`, `MAX_MULTIPLE_ACCOUNTS`). */
const MAX_ACCOUNTS = 100;
/** The most signatures in one page (Agave `rpc-client-types`, `MAX_GET_CONFIRMED_SIGNATURES_FOR_ADDRESS2_LIMIT`). */
const MAX_SIGNATURES = 1000;
/** Transaction versions are u8. Accounts and instructions have the same form in every version. */
const ANY_VERSION = 255;

const isSlot = Schema.is(Schema.Natural);
const isEpochInfo = Schema.is(
  Schema.Struct({ absoluteSlot: Schema.Natural, blockHeight: Schema.Natural }),
);

const ledger: Layer.Layer<Ledger, never, NodePool> = Layer.effect(
  Ledger,
  Effect.gen(function* () {
    const pool = yield* NodePool;

    /** Only reads raise the slot that later ones ask for. A simulation may report a slot that is not confirmed yet. */
    const readAtSlot = <A>(question: SlotQuestion<A>) =>
      Effect.tap(askAtSlot(pool, question), ({ slot }) =>
        Effect.sync(() => pool.slots.saw(question.commitment, Number(slot))),
      );

    const genesisHash = pool
      .call({
        method: "getGenesisHash",
        params: [],
        pool: "single",
        // A hash is 32 bytes in base58, like an address.
        decode: (result) =>
          typeof result === "string" && parseAddress(result) !== undefined
            ? { value: result }
            : "malformed",
      })
      .pipe(refusalAsUnavailable, Effect.withSpan("Ledger.genesisHash"));

    const tip = Effect.fn("Ledger.tip")(function* (commitment: Commitment) {
      const lowest = pool.slots.at(commitment);
      return yield* pool.call({
        method: "getEpochInfo",
        params: [{ commitment, ...(lowest > 0 ? { minContextSlot: lowest } : {}) }],
        pool: "single",
        decode: (result) => {
          if (!isEpochInfo(result)) return "malformed";
          const { absoluteSlot, blockHeight } = result;
          const judgement = pool.slots.judge(commitment, absoluteSlot);
          if (judgement !== "fine") return judgement;
          pool.slots.saw(commitment, absoluteSlot);
          return { value: { slot: BigInt(absoluteSlot), blockHeight: BigInt(blockHeight) } };
        },
      });
    }, refusalAsUnavailable);

    const readAccounts = Effect.fn("Ledger.readAccounts")(function* (
      addresses: ReadonlyArray<Address>,
      commitment: Commitment,
      mostDataBytes = MOST_DATA_BYTES,
    ) {
      if (addresses.length > MAX_ACCOUNTS) {
        return yield* Effect.die(new Error(`${addresses.length} accounts in one read`));
      }
      return yield* readAtSlot({
        method: "getMultipleAccounts",
        args: [addresses],
        options: {
          encoding: "base64",
          ...(Number.isFinite(mostDataBytes)
            ? { dataSlice: { offset: 0, length: mostDataBytes } }
            : {}),
        },
        commitment,
        pool: "single",
        parse: (value) => parseAccounts(addresses, value, mostDataBytes),
      });
    }, refusalAsUnavailable);

    /** The first slot that a node's history still holds. */
    const historyStart: RpcRequest<bigint> = {
      method: "getFirstAvailableBlock",
      params: [],
      pool: "single",
      decode: (result) => (isSlot(result) ? { value: BigInt(result) } : "malformed"),
    };

    const history = Effect.fn("Ledger.history")(function* (
      address: Address,
      before: LedgerSignature | null,
    ): Effect.fn.Return<HistoryPage, LedgerFailure | RpcRefusal> {
      let listed: HistoryPage["entries"] | null = null;
      // Without minContextSlot: some nodes take it for a filter of the entries. Callers bear with a list that is late.
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
        pool: "single",
        decode: (result) => {
          const parsed = parseHistory(result);
          if (parsed === undefined || parsed.length > MAX_SIGNATURES) return "malformed";
          listed = parsed;
          return { value: parsed };
        },
      };
      // What a node has after the search, it also had during the search.
      const [entries, keptFrom] = yield* pool
        .callInTurn(entriesBehind, historyStart)
        .pipe(
          Effect.catch((failure) =>
            listed === null ? Effect.fail(failure) : Effect.succeed([listed, null] as const),
          ),
        );
      return { entries, keptFrom };
    }, refusalAsUnavailable);

    const transaction = Effect.fn("Ledger.transaction")((signature: LedgerSignature) =>
      pool
        .call({
          method: "getTransaction",
          params: [
            signature,
            {
              encoding: "json",
              commitment: "finalized",
              maxSupportedTransactionVersion: ANY_VERSION,
            },
          ],
          pool: "single",
          decode: (result) => {
            const parsed = parseTransaction(signature, result);
            return parsed === undefined ? "malformed" : { value: parsed };
          },
        })
        .pipe(
          // This node cannot show the transaction.
          Effect.catchTag("RpcRefusal", () => Effect.succeed(null)),
        ),
    );

    return Ledger.of({
      genesisHash,
      tip,
      readAccounts,
      programAccounts: programAccounts(pool),
      history,
      transaction,
    });
  }),
);

/** The Ledger port over Solana JSON-RPC, and the choice of another node. */
export const ledgerSolanaRpc: Layer.Layer<Ledger, never, NodePool> = Layer.merge(
  ledger,
  Layer.effect(
    AskAnotherNode,
    NodePool.use(({ askAnother }) => Effect.succeed(askAnother)),
  ),
);
