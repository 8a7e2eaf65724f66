import { Effect } from "effect";
import { monotonicMs } from "../../../core/use-cases/single-flight.ts";
import type { LedgerFailure } from "../../../ports/ledger/ledger.ts";
import { NodeFault, NodeUnable, RpcRefusal } from "../transport/rpc-failure.ts";

/** How long nodes that do not know a method are not asked for it again, milliseconds. */
const ASK_AGAIN_MS = 3_600_000;

/**
 * Whether a failure may mean that the nodes do not offer a method. An unknown method has many codes among providers.
 */
export const mayNotOffer = (failure: LedgerFailure): boolean => {
  if (failure._tag === "LedgerTimeout") return false;
  const { cause } = failure;
  if (cause instanceof NodeUnable) return cause.kind !== "behind";
  if (cause instanceof NodeFault) return cause.kind === "unwell" || cause.kind === "malformed";
  return cause instanceof RpcRefusal;
};

/** What is known of a method that some providers alone offer, which is found out by asking. */
export const optionalMethod = () => {
  let isKnown = false;
  let notOfferedMs: number | null = null;
  return {
    /** Whether nodes have answered it, when it was asked last. */
    get isKnown(): boolean {
      return isKnown;
    },
    /** False for an hour after nodes did not know it. */
    isWorthAsking: Effect.map(
      monotonicMs,
      (nowMs) => notOfferedMs === null || nowMs - notOfferedMs >= ASK_AGAIN_MS,
    ),
    /** Notes whether they answered it. */
    note: (isOffered: boolean) =>
      Effect.map(monotonicMs, (nowMs) => {
        isKnown = isOffered;
        notOfferedMs = isOffered ? null : nowMs;
      }),
  };
};
