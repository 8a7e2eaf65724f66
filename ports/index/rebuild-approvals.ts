import { Context, type Effect } from "effect";
import type { RebuildApproval } from "../../core/domain/index/index-contradiction.ts";

/** What the operator has approved last, null for nothing. What cannot be read approves nothing. */
export class RebuildApprovals extends Context.Service<
  RebuildApprovals,
  Effect.Effect<RebuildApproval | null>
>()("settlement-evidence/ports/RebuildApprovals") {}
