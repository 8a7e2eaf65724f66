import { Effect } from "effect";
import { type LedgerFailure, LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import { ledgerFaultOf } from "../transport/ledger-fault.ts";
import { RpcRefusal } from "../transport/rpc-failure.ts";

/**
 * For questions that no node has a reason to refuse. A refusal then means that node and adapter do not understand each
 * other, and a retry cannot help. The node's data is dropped.
 */
export const refusalAsUnavailable = <A>(
  effect: Effect.Effect<A, LedgerFailure | RpcRefusal>,
): Effect.Effect<A, LedgerFailure> =>
  Effect.catchTag(effect, "RpcRefusal", ({ node, method, code }) => {
    const cause = new RpcRefusal({ node, method, code, data: null });
    return Effect.fail(
      new LedgerUnavailable({ retryable: false, cause, fault: ledgerFaultOf(cause) }),
    );
  });
