import { MERCHANT_STATUSES } from "../../../../core/domain/merchant/merchant.ts";
import type { RegistryEntryRecord } from "../../merchant/merchant-contract.ts";
import { sameNameNotice, statusPill } from "../merchant/merchant-parts.ts";
import { html, type Html } from "../shell/html.ts";
import { curl, key, table, time } from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { Refused, type Screen } from "../shell/screen.ts";
import { freshness, type Listed } from "./escrows-screen.ts";
import {
  askedOf,
  choiceField,
  filterForm,
  listFoot,
  listQuery,
  pathWith,
  textField,
} from "./list-query.ts";
import { rowsAsFile } from "./rows-as-file.ts";

const PATH = "/merchants";

const merchantTable = (merchants: ReadonlyArray<RegistryEntryRecord>): Html =>
  table({
    caption: "Merchants, the earliest registered first",
    head: [
      "Name",
      "Status",
      "Wallet",
      "Paid in full",
      "In part",
      "Refunded",
      "Pending",
      "Volume",
      "Since",
    ],
    rows: merchants.map((merchant) => [
      html`<a href="/merchants/${merchant.merchant}">${merchant.name}</a>
        ${sameNameNotice(merchant.same_name)}`,
      statusPill(merchant.status),
      key(merchant.merchant, `/merchants/${merchant.merchant}`),
      merchant.stats.fulfilled,
      merchant.stats.partially_fulfilled,
      merchant.stats.refunded,
      merchant.stats.pending,
      merchant.volume_usdc === null
        ? "not in USDC"
        : html`<span class="money">${merchant.volume_usdc} USDC</span>`,
      time(merchant.registered_at),
    ]),
    empty: "No merchant passes these filters.",
  });

/** The registry of merchants by filters that stand in the address. */
export const merchantsScreen: Screen = {
  path: PATH,
  query: listQuery(["status", "q", "min_reputation"]),
  show: async ({ query, read, origin }) => {
    const asked = askedOf(query);
    const path = pathWith("/v1/registry/merchants", asked);
    const answer = await read<Listed<RegistryEntryRecord>>(path);
    if (!(answer instanceof Refused)) {
      const rows = answer.data.map(({ stats, ...merchant }) => ({ ...merchant, ...stats }));
      const file = rowsAsFile((query as { readonly format?: string }).format, "merchants", rows);
      if (file !== null) return file;
    }
    return {
      title: "Merchants",
      body: html`<h1>Merchants</h1>
        <p class="lead">
          Anybody can register any name. Know a merchant by its wallet, from a source of your own.
        </p>
        ${filterForm(PATH, [
          textField("q", "Name, wallet or key", asked),
          choiceField("status", "Status", asked, [
            ["", "any"],
            ...MERCHANT_STATUSES.map((status) => [status, status] as const),
          ]),
          textField("min_reputation", "Reputation from", asked),
        ])}
        ${
          answer instanceof Refused
            ? problemNotice(answer.problem)
            : html`${merchantTable(answer.data)}${listFoot(PATH, asked, answer.page.next_cursor)}${freshness(answer)}`
        }
        ${curl(origin, path)}`,
    };
  },
};
