import { Effect } from "effect";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";

/** How many other indexed merchants have a merchant's name; null before the first sync, and when the index does not answer. */
export const countSameNames = Effect.fn("countSameNames")(function* ({ name, address }: Merchant) {
  const index = yield* EscrowIndex;
  const counted = Effect.gen(function* () {
    const { checkpoint } = yield* index.summary;
    return checkpoint === null ? null : yield* index.sameNames(name, address);
  });
  return yield* Effect.orElseSucceed(counted, () => null);
});
