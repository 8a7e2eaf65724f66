import type { Static, TObject } from "@sinclair/typebox";
import { projectCommand } from "../../../../core/domain/project-command.ts";
import type { EscrowRecord } from "../../escrow/escrow-contract.ts";
import type { SettlementEventRecord } from "../../index/event-contract.ts";
import type { DailyOutcomes } from "../../index/query-days.ts";
import type { ServiceStatus } from "../../service/status/status-contract.ts";
import { eventTable } from "../shell/event-table.ts";
import { assetPath } from "../shell/assets.ts";
import { html, type Html } from "../shell/html.ts";
import { type AmountOf, key, live, notice, table, time } from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { partOr, Refused, type Screen } from "../shell/screen.ts";
import { type Page, searchBox } from "../shell/shell.ts";
import { dayChart } from "./day-chart.ts";

type Status = Static<typeof ServiceStatus>;
type Listed<Row> = { readonly data: ReadonlyArray<Row> };

/** An hour: what expires within it is worth a look. */
const SOON_SECONDS = 3600;

/** How the service stands, in a sentence with what follows from it. */
const health = ({ status, network, indexer, log }: Status): Html => {
  const parts: Array<string> = [];
  if (network.identity === "contradicted") parts.push("its nodes serve another ledger");
  else if (!network.healthy) parts.push("no node of the ledger answers");
  if (indexer.contradiction !== null) parts.push("the ledger contradicts the index");
  else if (indexer.status === "degraded")
    parts.push(
      indexer.count === null ? "its index is empty, or cannot be read" : "the index is behind",
    );
  const events =
    indexer.count === null
      ? ""
      : ` It has ${indexer.count} events of ${indexer.escrows ?? 0} escrows.`;
  const root =
    log?.published_size === undefined || log.published_size === null
      ? ""
      : ` The log is published up to leaf ${log.published_size - 1}.`;
  const isWell = status === "online" && parts.length === 0;
  if (isWell && indexer.count === null)
    return notice(
      "wait",
      "The service has begun, and reads the ledger for the first time. Until then it lists nothing.",
    );
  if (isWell)
    return notice("good", html`The service works: it follows the ledger.${events}${root}`);
  const cause =
    parts.length === 0 ? "a part of it does not work, or is not known to" : parts.join(", and ");
  return notice(
    "warn",
    html`The service is degraded: ${cause}.
      ${
        indexer.last_synced_at !== null &&
        html`What is shown is as of its last sync, ${time(indexer.last_synced_at)}.`
      }${events} <a href="/v1/status">Status</a>`,
  );
};

const expiring = ({ data }: Listed<EscrowRecord>, amount: AmountOf) =>
  table({
    caption: "Escrows that expire within an hour",
    head: ["Escrow", "Amount", "Merchant", "Expires"],
    rows: data.map((escrow) => [
      key(escrow.escrow_pda, `/escrows/${escrow.escrow_pda}`),
      amount(escrow.amount_stroops, escrow.mint),
      key(escrow.merchant, `/merchants/${escrow.merchant}`),
      time(escrow.expires_at),
    ]),
    empty: "None.",
  });

/** The demo's buttons, on a ledger with play money. The page signs with keys that everybody knows; the service has none. */
const demo = (): Html =>
  html`<h2>Try it</h2>
    <p>
      This ledger has play money; a script of this page signs with keys that everybody has. From a
      terminal: <code>${projectCommand("demo")}</code>.
    </p>
    <p class="tries">
      <button type="button" data-runs="${assetPath("demo.js")}" data-ends="release" hidden>
        Pay, then release
      </button>
      <button type="button" data-runs="${assetPath("demo.js")}" data-ends="refund" hidden>
        Pay, then refund
      </button>
    </p>
    <ol id="demo" class="told" aria-live="polite"></ol>`;

/** The page that a browser gets at `/`. */
export const homeScreen: Screen<TObject, Page> = {
  path: "/",
  show: async ({ read, amount, isLocal }) => {
    const [status, events, days, soon] = await Promise.all([
      read<{ readonly data: Status }>("/v1/status"),
      read<Listed<SettlementEventRecord>>("/v1/indexer/events?limit=15"),
      read<Static<typeof DailyOutcomes>>("/v1/indexer/days"),
      read<Listed<EscrowRecord>>(`/v1/indexer?expiring_within=${SOON_SECONDS}&limit=10`),
    ]);
    return {
      title: "Settlement Evidence",
      follows: "/v1/indexer/events/stream",
      body: html`<h1>What became of the payment?</h1>
        <p class="lead">
          An agent's payment waits in escrow on the ledger. The merchant is paid when its attestor
          signs a delivery claim; when it does not, anyone can return the money after the deadline.
          What was claimed and what the ledger did stand in a packet that anyone can verify.
        </p>
        ${searchBox("", true)}
        ${live(
          "health",
          partOr(status, ({ data }) => health(data), problemNotice),
        )}
        ${isLocal && demo()}
        <h2>Latest events</h2>
        ${live(
          "feed",
          partOr(
            events,
            ({ data }) =>
              eventTable(
                data,
                amount,
                `No event yet. Walk one escrow through its life: ${projectCommand("demo")}, in a clone of the project.`,
              ),
            problemNotice,
          ),
        )}
        <div class="columns">
          <section>
            <h2>Outcomes and volume a day</h2>
            ${live(
              "days",
              partOr(days, (counted) => dayChart(counted, amount), problemNotice),
            )}
          </section>
          <section>
            <h2>Soon expiring</h2>
            ${live("expiring", soon instanceof Refused ? problemNotice(soon.problem) : expiring(soon, amount))}
            <p>
              <a href="/escrows?state=Pending">All that are pending</a> ·
              <a href="/escrows?refundable=true">all that can be refunded now</a>
            </p>
          </section>
        </div>`,
    };
  },
};
