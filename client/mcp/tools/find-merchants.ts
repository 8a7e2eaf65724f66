import type { RegistryEntryPage } from "../../generated/contract.ts";
import { aList, anObject, aNumber, aText, maybeText } from "../output.ts";
import { optional, text, whole } from "../parameter.ts";
import { answerOf, queryOf, tool } from "../tool.ts";
import { PAGE_ROWS } from "../page-rows.ts";

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
    merchants: aList(
      anObject({
        merchant: aText("Wallet"),
        name: aText(),
        same_name: { type: ["integer", "null"], description: "Others so named" },
        reputation: aNumber(),
        deliveries: aNumber(),
      }),
    ),
    next_cursor: maybeText(),
  },
  run: async ({ q, min_reputation, cursor }, { call }) => {
    const query = queryOf({ status: "Active", q, min_reputation, cursor, limit: PAGE_ROWS });
    const { data, page } = await answerOf<RegistryEntryPage>(
      call,
      `/v1/registry/merchants${query}`,
    );
    return {
      result: {
        merchants: data.map(({ merchant, name, same_name, reputation, deliveries }) => ({
          merchant,
          name,
          same_name,
          reputation,
          deliveries,
        })),
        next_cursor: page.next_cursor,
      },
    };
  },
});
