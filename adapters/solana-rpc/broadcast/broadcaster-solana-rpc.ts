import { Effect, Layer, Schema } from "effect";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  type LedgerSignature,
  parseLedgerSignature,
} from "../../../core/domain/ledger/signature.ts";
import type { Simulation } from "../../../core/domain/relay/relay-entry.ts";
import {
  Broadcaster,
  type HistorySearch,
  SubmissionRefused,
} from "../../../ports/ledger/broadcaster.ts";
import { askAtSlot } from "../pool/ask-at-slot.ts";
import { NodePool } from "../pool/node-pool.ts";
import type { RpcRequest } from "../pool/pooled-node.ts";
import { refusalAsUnavailable } from "../pool/fail-over.ts";
import { isValueAtSlot } from "../transport/rpc-envelope.ts";
import type { RpcRefusal } from "../transport/rpc-failure.ts";
import { parseLanded, parseSimulation, parseShown } from "../history/transaction-json.ts";
import {
  accountsWritten,
  refusedTransactionError,
  refusedTransactionLogs,
  RelayedTransactions,
} from "./relayed-transactions.ts";

const isNatural = Schema.is(Schema.Natural);

/** The Broadcaster port over Solana JSON-RPC. */
export const broadcasterSolanaRpc: Layer.Layer<Broadcaster, never, NodePool> = Layer.effect(
  Broadcaster,
  Effect.gen(function* () {
    const pool = yield* NodePool;
    const relayed = new RelayedTransactions(pool.slots);

    const isBlockhashValid = Effect.fn("Broadcaster.isBlockhashValid")(function* (
      blockhash: string,
    ) {
      const { slot, value } = yield* askAtSlot(pool, {
        method: "isBlockhashValid",
        args: [blockhash],
        options: {},
        commitment: "confirmed",
        accounts: [],
        parse: (value) => (typeof value === "boolean" ? value : undefined),
        isAbsence: (isValid) => !isValid,
      });
      // A tip read later is then no older than the blockhash, at any node. The time for which a transaction can land is
      // reckoned from that tip.
      if (value) pool.slots.sawValidBlockhash(Number(slot));
      return value;
    }, refusalAsUnavailable);

    const fee = Effect.fn("Broadcaster.fee")(function* (message: Uint8Array) {
      const { value } = yield* askAtSlot(pool, {
        method: "getFeeForMessage",
        args: [encodeBase64(message)],
        options: {},
        commitment: "confirmed",
        accounts: [],
        parse: (value) => (value === null ? null : isNatural(value) ? BigInt(value) : undefined),
        isAbsence: (fee) => fee === null,
      });
      return value;
    }, refusalAsUnavailable);

    /** A node refuses to run a transaction that it cannot read or verify. Callers get that as a failed simulation. */
    const refusedSimulation = (refusal: RpcRefusal): Effect.Effect<Simulation, RpcRefusal> => {
      const error = refusedTransactionError(refusal);
      return error === null
        ? Effect.fail(refusal)
        : Effect.succeed({ slot: BigInt(pool.slots.at("confirmed")), error, logs: [] });
    };

    const simulate = Effect.fn("Broadcaster.simulate")(
      function* (transaction: Uint8Array) {
        const { slot, value } = yield* askAtSlot(pool, {
          method: "simulateTransaction",
          args: [encodeBase64(transaction)],
          options: { encoding: "base64", sigVerify: true, replaceRecentBlockhash: false },
          commitment: "confirmed",
          accounts: accountsWritten(transaction),
          parse: parseSimulation,
          isAbsence: (simulated) => simulated.error !== null,
          isAhead: true,
        });
        return { slot, ...value };
      },
      Effect.catchTag("RpcRefusal", refusedSimulation),
      refusalAsUnavailable,
    );

    const submit = Effect.fn("Broadcaster.submit")(
      function* (transaction: Uint8Array) {
        relayed.remember(transaction);
        yield* pool.tellAll({
          method: "sendTransaction",
          params: [
            encodeBase64(transaction),
            { encoding: "base64", skipPreflight: true, maxRetries: 0 },
          ],
          decode: (result) =>
            typeof result === "string" && parseLedgerSignature(result) !== undefined
              ? { value: undefined }
              : "malformed",
        });
      },
      Effect.catchTag("RpcRefusal", (refusal) => {
        const error = refusedTransactionError(refusal);
        // It has landed already, as intended.
        if (error?.kind === "AlreadyProcessed") return Effect.void;
        return Effect.fail(new SubmissionRefused({ error, logs: refusedTransactionLogs(refusal) }));
      }),
    );

    const statuses = (
      signatures: ReadonlyArray<LedgerSignature>,
    ): RpcRequest<HistorySearch["landed"]> => {
      const { present, absent } = pool.slots.boundsOf("confirmed", signatures);
      return {
        method: "getSignatureStatuses",
        params: [signatures, { searchTransactionHistory: true }],
        decode: (result) => {
          if (!isValueAtSlot(result)) return "malformed";
          const { slot } = result.context;
          const judgement = pool.slots.judge(present, slot);
          if (judgement !== "fine") return judgement;
          const value = parseLanded(result.value, signatures.length);
          if (value === undefined) return "malformed";
          // No node holds a block above its own newest slot. A store behind it may.
          if (value.some((shown) => shown !== null && shown.slot > slot)) return "behind";
          // The context is the node's newest slot. If that is below the confirmed slot, a null from this node proves
          // nothing.
          if (slot < absent && value.includes(null)) return "behind";
          relayed.landed(signatures, value, slot);
          return { value };
        },
      };
    };

    const landedAll = Effect.fn("Broadcaster.landedAll")(
      (signatures: ReadonlyArray<LedgerSignature>) =>
        Effect.suspend(() => pool.call(statuses(signatures))),
      refusalAsUnavailable,
    );

    const landed = (signature: LedgerSignature) =>
      landedAll([signature]).pipe(Effect.map(([only]) => only ?? null));

    const searchAll = Effect.fn("Broadcaster.searchAll")(function* (
      signatures: ReadonlyArray<LedgerSignature>,
    ) {
      const [landed, completeFrom] = yield* pool.callWithHistoryStart(statuses(signatures));
      return { landed, completeFrom };
    }, refusalAsUnavailable);

    const shown = Effect.fn("Broadcaster.shown")(function* (signature: LedgerSignature) {
      return yield* pool.call({
        method: "getTransaction",
        params: [
          signature,
          { commitment: "confirmed", encoding: "base64", maxSupportedTransactionVersion: 0 },
        ],
        decode: (result) => {
          const parsed = parseShown(result);
          return parsed === undefined ? "malformed" : { value: parsed };
        },
      });
    }, refusalAsUnavailable);

    return Broadcaster.of({
      isBlockhashValid,
      fee,
      simulate,
      submit,
      landed,
      landedAll,
      searchAll,
      shown,
    });
  }),
);
