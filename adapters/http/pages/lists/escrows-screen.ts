import { ESCROW_STATES } from "../../../../core/domain/escrow/escrow.ts";
import type { EscrowRecord } from "../../escrow/escrow-contract.ts";
import { html, type Html } from "../shell/html.ts";
import { curl, live, notice, time } from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { Refused, type Screen } from "../shell/screen.ts";
import { escrowTable } from "./escrow-table.ts";
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

/** A page of a list of the index. */
export type Listed<Row> = {
  readonly data: ReadonlyArray<Row>;
  readonly page: { readonly next_cursor: string | null };
  readonly index: {
    readonly last_synced_at: string | null;
    readonly unseen: number;
    readonly stale?: true;
  };
};

/** How complete a list is. */
export const freshness = ({ index }: Listed<unknown>): Html =>
  html`${index.stale === true && notice("warn", "No node shows the ledger of this index now: the list may be old.")}
    <p class="note">
      Complete up to the sync at
      ${index.last_synced_at === null ? "none yet" : time(index.last_synced_at)}${index.unseen > 0 && html`; ${index.unseen} archived escrows are in no list, because nobody has shown their bytes`}.
    </p>`;

const PATH = "/escrows";

const form = (asked: URLSearchParams): Html =>
  filterForm(PATH, [
    choiceField("state", "State", asked, [
      ["", "any"],
      ...ESCROW_STATES.map((state) => [state, state] as const),
    ]),
    textField("merchant", "Merchant's wallet", asked),
    textField("agent_owner", "Agent's wallet", asked),
    choiceField("refundable", "Refund", asked, [
      ["", "any"],
      ["true", "can be refunded now"],
    ]),
    choiceField("expiring_within", "Expires", asked, [
      ["", "any time"],
      ["3600", "within an hour"],
      ["86400", "within a day"],
    ]),
  ]);

/** Escrows by filters that stand in the address. */
export const escrowsScreen: Screen = {
  path: PATH,
  query: listQuery(["state", "merchant", "agent_owner", "refundable", "expiring_within"]),
  show: async ({ query, read, amount, origin }) => {
    const asked = askedOf(query);
    const path = pathWith("/v1/indexer", asked);
    const answer = await read<Listed<EscrowRecord>>(path);
    if (!(answer instanceof Refused)) {
      const file = rowsAsFile(
        (query as { readonly format?: string }).format,
        "escrows",
        answer.data,
      );
      if (file !== null) return file;
    }
    return {
      title: "Escrows",
      follows: "/v1/indexer/events/stream",
      body: html`<h1>Escrows</h1>
        ${form(asked)}
        ${live(
          "rows",
          answer instanceof Refused
            ? problemNotice(answer.problem)
            : html`${escrowTable(answer.data, amount, "Escrows, newest first", "No escrow passes these filters.")}
              ${listFoot(PATH, asked, answer.page.next_cursor)}${freshness(answer)}`,
        )}
        ${curl(origin, path)}`,
    };
  },
};
