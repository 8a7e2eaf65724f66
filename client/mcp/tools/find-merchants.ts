import {
  aCursor,
  aForeignText,
  aList,
  anAddress,
  anObject,
  aNumber,
  at,
  maybe,
} from "../output.ts";
import { optional, text, whole } from "../parameter.ts";
import { answerOf, queryOf, tool } from "../tool.ts";
import { PAGE_ROWS } from "../shown.ts";

/** `find_merchants`: active merchants of the registry. */
export const findMerchants = tool({
  name: "find_merchants",
  description:
    "Active merchants. Names are not unique and counts are no rating: anyone can pay itself.",
  parameters: {
    q: optional(text("In name or address")),
    min_reputation: optional(whole(0, 4_294_967_295)),
    cursor: optional(text()),
  },
  output: {
    merchants: at(
      "data",
      aList(
        anObject({
          merchant: anAddress("Wallet"),
          name: aForeignText(32),
          same_name: maybe(aNumber("Others so named")),
          reputation: aNumber(),
          deliveries: aNumber(),
        }),
        PAGE_ROWS,
      ),
    ),
    next_cursor: at("page.next_cursor", maybe(aCursor())),
  },
  run: async ({ q, min_reputation, cursor }, { call }) => {
    const query = queryOf({ status: "Active", q, min_reputation, cursor, limit: PAGE_ROWS });
    return { answer: await answerOf(call, `/v1/registry/merchants${query}`) };
  },
});
