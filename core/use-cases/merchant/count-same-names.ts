import { Effect } from "effect";
import type { Merchant } from "../../domain/merchant/merchant.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";

/** How many other indexed merchants have a merchant's name; null before the first sync, and when the index does not answer. */
export const countSameNames = Effect.fn("countSameNames")(function* ({ name, address }: Merchant) {
  const index = yield* IndexReader;
  const counted = Effect.gen(function* () {
    const { mark } = yield* index.summary;
    return mark === null ? null : yield* index.sameNames(name, address);
  });
  return yield* Effect.orElseSucceed(counted, () => null);
});
