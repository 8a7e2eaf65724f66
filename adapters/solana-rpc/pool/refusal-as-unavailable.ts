import { Effect } from "effect";
import { type LedgerFailure, LedgerUnavailable } from "../../../ports/ledger.ts";
import { RpcRefusal } from "../transport/rpc-failure.ts";

/**
 * For questions that no node has a reason to refuse. A refusal then means that node and adapter do not understand each
 * other, and a retry cannot help. The node's data is dropped.
 */
export const refusalAsUnavailable = <A>(
  effect: Effect.Effect<A, LedgerFailure | RpcRefusal>,
): Effect.Effect<A, LedgerFailure> =>
  Effect.catchTag(effect, "RpcRefusal", ({ code }) =>
    Effect.fail(
      new LedgerUnavailable({ retryable: false, cause: new RpcRefusal({ code, data: null }) }),
    ),
  );
