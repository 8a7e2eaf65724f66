import { Effect, Layer, Schema } from "effect";
import { type Address, parseAddress } from "../../../core/domain/address.ts";
import { Blockspace, type RecentBlockhash } from "../../../ports/ledger/blockspace.ts";
import { askAtSlot } from "../pool/ask-at-slot.ts";
import { NodePool } from "../pool/node-pool.ts";
import { refusalAsUnavailable } from "../pool/fail-over.ts";

const isLatest = Schema.is(
  Schema.Struct({ blockhash: Schema.String, lastValidBlockHeight: Schema.Natural }),
);
const isFees = Schema.is(Schema.Array(Schema.Struct({ prioritizationFee: Schema.Natural })));

const parseLatest = (value: unknown): Omit<RecentBlockhash, "slot"> | undefined => {
  if (!isLatest(value)) return undefined;
  const blockhash = parseAddress(value.blockhash);
  return blockhash === undefined
    ? undefined
    : { blockhash, lastValidBlockHeight: BigInt(value.lastValidBlockHeight) };
};

/** The Blockspace port over Solana JSON-RPC. */
export const blockspaceSolanaRpc: Layer.Layer<Blockspace, never, NodePool> = Layer.effect(
  Blockspace,
  Effect.gen(function* () {
    const pool = yield* NodePool;

    const latestBlockhash = askAtSlot(pool, {
      method: "getLatestBlockhash",
      args: [],
      options: {},
      commitment: "confirmed",
      accounts: [],
      parse: parseLatest,
      isAbsence: () => false,
    }).pipe(
      Effect.map(({ slot, value }) => ({ ...value, slot })),
      Effect.withSpan("Blockspace.latestBlockhash"),
      refusalAsUnavailable,
    );

    const recentPrices = Effect.fn("Blockspace.recentPrices")(
      (account: Address) =>
        pool.call({
          method: "getRecentPrioritizationFees",
          params: [[account]],
          decode: (result) =>
            isFees(result)
              ? { value: result.map(({ prioritizationFee }) => BigInt(prioritizationFee)) }
              : "malformed",
        }),
      refusalAsUnavailable,
    );

    return Blockspace.of({ latestBlockhash, recentPrices });
  }),
);
