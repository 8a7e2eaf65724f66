import { Context, Effect } from "effect";

/**
 * Makes later reads of the ledger ask another of the configured nodes first; false where there is only one. For answers
 * that contradict what is proved: the node that gave them would give them again.
 */
export const AskAnotherNode = Context.Reference<Effect.Effect<boolean>>(
  "settlement-evidence/ports/AskAnotherNode",
  { defaultValue: () => Effect.succeed(false) },
);
