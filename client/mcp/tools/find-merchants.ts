import type { RegistryEntry } from "../../generated/contract.ts";
import { ask } from "../ask.ts";
import { aForeignText, at, atOrNull, rowsAt, type ShownBy, type ShownOf } from "../output.ts";
import { optional, text, whole } from "../parameter.ts";
import { PAGE_ROWS } from "../shown.ts";
import { tool } from "../tool.ts";

const ROW = {
  merchant: at("merchant", "Wallet"),
  name: aForeignText(32),
  same_name: atOrNull("same_name", "Others so named"),
  reputation: "reputation",
  deliveries: "deliveries",
} as const satisfies ShownOf<RegistryEntry>;

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
    merchants: rowsAt("data", ROW, PAGE_ROWS),
    next_cursor: atOrNull("page.next_cursor"),
  } satisfies ShownBy<"GET /v1/registry/merchants">,
  run: async (filter, { call }) => ({
    answer: await ask(call, "GET /v1/registry/merchants", {
      status: "Active",
      ...filter,
      limit: PAGE_ROWS,
    }),
  }),
});
