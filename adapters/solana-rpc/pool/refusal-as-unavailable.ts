import { Effect } from "effect";
import { type LedgerFailure, LedgerUnavailable } from "../../../ports/ledger.ts";
import { RpcRefusal } from "../transport/rpc-failure.ts";

/**
 * For questions a node has no reason to refuse: a refusal then says that node and adapter do not understand
 * each other, which asking again does not mend. What the node sent along is dropped.
 */
export const refusalAsUnavailable = <A>(
  effect: Effect.Effect<A, LedgerFailure | RpcRefusal>,
): Effect.Effect<A, LedgerFailure> =>
  Effect.catchTag(effect, "RpcRefusal", ({ code }) =>
    Effect.fail(
      new LedgerUnavailable({ retryable: false, cause: new RpcRefusal({ code, data: null }) }),
    ),
  );
