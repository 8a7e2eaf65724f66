import type { Static } from "@sinclair/typebox";
import type { DailyOutcomes } from "../../index/query-days.ts";
import { html, type Html } from "../shell/html.ts";
import { type AmountOf, table } from "../shell/parts.ts";

type Days = Static<typeof DailyOutcomes>;
type Day = Days["data"][number];

const MS_A_DAY = 86_400_000;
/** Days on the chart: those without events are gaps, so that the axis is time. */
const SHOWN = 30;
const WIDTH = 720;
const HEIGHT = 160;
const LEFT = 36;
const BOTTOM = 22;

/** The settlements of a day, from the bottom of its bar to the top. */
const PARTS = [
  ["good", (day: Day) => day.fulfilled + day.partially_fulfilled],
  ["warn", (day: Day) => day.refunded],
] as const;

const settledOn = (day: Day): number => day.fulfilled + day.partially_fulfilled + day.refunded;

/** A day as month and day, from its number since 1970. */
const dayText = (number: number): string => new Date(number * MS_A_DAY).toISOString().slice(5, 10);

/** The settlements of the last days as bars, drawn on the server. The table behind it says the same to everybody. */
const chart = (days: ReadonlyArray<Day>, last: number): Html => {
  const most = Math.max(1, ...days.map((day) => Math.max(settledOn(day), day.created)));
  const step = (WIDTH - LEFT) / SHOWN;
  const scale = (HEIGHT - BOTTOM - 8) / most;
  const bars = days.flatMap((day) => {
    const at = SHOWN - 1 - (last - Date.parse(day.date) / MS_A_DAY);
    if (at < 0) return [];
    const x = LEFT + at * step;
    let top = HEIGHT - BOTTOM;
    const settled = PARTS.map(([tone, of]) => {
      const height = of(day) * scale;
      top -= height;
      return html`<rect
        class="${tone}"
        x="${(x + step * 0.45).toFixed(1)}"
        y="${top.toFixed(1)}"
        width="${(step * 0.4).toFixed(1)}"
        height="${height.toFixed(1)}"
      />`;
    });
    const created = day.created * scale;
    return [
      html`<g
        ><title>${day.date}: ${day.created} created, ${settledOn(day)} settled</title
        ><rect
          class="wait"
          x="${(x + step * 0.05).toFixed(1)}"
          y="${(HEIGHT - BOTTOM - created).toFixed(1)}"
          width="${(step * 0.35).toFixed(1)}"
          height="${created.toFixed(1)}"
        />${settled}</g
      >`,
    ];
  });
  return html`<svg
    class="chart"
    role="img"
    aria-label="Escrows created and settled on each of the last ${SHOWN} days; the table below has the numbers"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
  >
    <line x1="${LEFT}" x2="${WIDTH}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM}" />
    <text x="${LEFT - 6}" y="14" text-anchor="end">${most}</text>
    <text x="${LEFT - 6}" y="${HEIGHT - BOTTOM}" text-anchor="end">0</text>
    ${bars}
    <text x="${LEFT}" y="${HEIGHT - 6}">${dayText(last - SHOWN + 1)}</text>
    <text x="${WIDTH}" y="${HEIGHT - 6}" text-anchor="end">${dayText(last)}</text>
  </svg>`;
};

/** Outcomes and volume by day: a chart, and the table behind it. */
export const dayChart = ({ data, counted_to: countedTo, count }: Days, amount: AmountOf): Html => {
  const newest = data[0];
  if (newest === undefined)
    return html`<p class="empty">Nothing has happened yet: no escrow has been created.</p>`;
  const last = Date.parse(newest.date) / MS_A_DAY;
  const unfinished =
    countedTo < count &&
    html`<p class="note">
      Counted up to event ${countedTo} of ${count}; the newest days are still to come.
    </p>`;
  const amounts = (day: Day, of: (one: Day["amounts"][number]) => string): ReadonlyArray<Html> =>
    day.amounts.map((one) => html`<div>${amount(of(one), one.mint)}</div>`);
  return html`<p class="legend">
      <span class="pill wait">created</span> <span class="pill good">paid, whole or in part</span>
      <span class="pill warn">refunded</span>
    </p>
    ${chart(data, last)} ${unfinished}
    <details>
      <summary>The numbers</summary>
      ${table({
        caption: "Escrows and volume by day, newest first, by the ledger's clock in UTC",
        head: [
          "Day",
          "Created",
          "Paid",
          "In part",
          "Refunded",
          "Escrowed",
          "To merchants",
          "To agents",
        ],
        rows: data.map((day) => [
          day.date,
          day.created,
          day.fulfilled,
          day.partially_fulfilled,
          day.refunded,
          amounts(day, (one) => one.created_stroops),
          amounts(day, (one) => one.released_stroops),
          amounts(day, (one) => one.refunded_stroops),
        ]),
        empty: "No day has events.",
      })}
    </details>`;
};
