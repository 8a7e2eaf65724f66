import { Context, Effect } from "effect";
import type { RebuildApproval } from "../../core/domain/index/index-contradiction.ts";

/** What the operator has approved last, null for nothing. What cannot be read approves nothing. Where nobody provides it, nothing is approved. */
export const RebuildApprovals = Context.Reference<Effect.Effect<RebuildApproval | null>>(
  "settlement-evidence/ports/RebuildApprovals",
  { defaultValue: () => Effect.succeed(null) },
);
