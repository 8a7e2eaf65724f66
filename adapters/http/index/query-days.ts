import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { type Day, DailyOutcomesCount } from "../../../core/use-cases/index/daily-outcomes.ts";
import { listedMint, type SupportedMint } from "../../../core/domain/supported-mint.ts";
import { Instance } from "../../../ports/instance.ts";
import { sampleInstance } from "../openapi/sample-ledger.ts";
import { Address, Count, MintSymbol, record, Stroops } from "../openapi/values.ts";
import { NotReady } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";

const MOST_DAYS = 366;
const USUAL_DAYS = 30;
const MS_A_DAY = 86_400_000;

const DayAmounts = record("DayAmounts", "Base units of one listed mint that moved on a day.", {
  mint: Address("The mint."),
  symbol: MintSymbol,
  created_stroops: Stroops("Into escrows."),
  released_stroops: Stroops("To merchants, when escrows settled."),
  refunded_stroops: Stroops("Back to agents, when nothing had been paid."),
});

const DayOutcomes = record("DayOutcomes", "What happened on one day of the ledger's clock.", {
  date: Type.String({ description: "The day, in UTC.", format: "date", examples: ["2026-03-01"] }),
  created: Count("Escrows that were created."),
  fulfilled: Count("Escrows that settled with all of it paid."),
  partially_fulfilled: Count("Escrows that settled with a part paid."),
  refunded: Count("Escrows that settled with nothing paid."),
  amounts: Type.Array(DayAmounts, { description: "Of the mints that this service lists." }),
});

/** The events of the newest days, counted. */
export const DailyOutcomes = record("DailyOutcomes", "The newest days with events, counted.", {
  data: Type.Array(DayOutcomes, { description: "Newest first. A day without events is left out." }),
  counted_to: Count("The number of the last event that is counted."),
  count: Count("The number of the last event that the index holds."),
});
type DailyOutcomesRecord = Static<typeof DailyOutcomes>;

const amountsOf = (day: Day, mints: ReadonlyArray<SupportedMint>) =>
  Array.from(day.moved, ([mint, moved]) => ({
    mint,
    symbol: listedMint(mints, mint)?.symbol ?? null,
    created_stroops: moved.escrow_created.toString(),
    released_stroops: (moved.escrow_released + moved.escrow_partially_released).toString(),
    refunded_stroops: moved.escrow_refunded.toString(),
  }));

const dayRecord = (day: Day, mints: ReadonlyArray<SupportedMint>) => ({
  date: new Date(day.number * MS_A_DAY).toISOString().slice(0, 10),
  created: day.events.escrow_created,
  fulfilled: day.events.escrow_released,
  partially_fulfilled: day.events.escrow_partially_released,
  refunded: day.events.escrow_refunded,
  amounts: amountsOf(day, mints),
});

const example = (): DailyOutcomesRecord => {
  const { supportedMints } = sampleInstance();
  const [mint] = supportedMints;
  const day: Day = {
    number: 20_513,
    events: {
      escrow_created: 2,
      escrow_released: 1,
      escrow_partially_released: 0,
      escrow_refunded: 0,
    },
    moved: new Map(
      mint === undefined
        ? []
        : [
            [
              mint.address,
              {
                escrow_created: 3_000_000n,
                escrow_released: 1_500_000n,
                escrow_partially_released: 0n,
                escrow_refunded: 0n,
              },
            ],
          ],
    ),
  };
  return { data: [dayRecord(day, supportedMints)], counted_to: 3, count: 3 };
};

/** `GET /v1/indexer/days` */
export const queryDaysEndpoint = endpoint({
  method: "GET",
  path: "/v1/indexer/days",
  operationId: "queryDays",
  tag: "Index",
  summary: "Outcomes and volume by day",
  description:
    "Settlement events by day of the ledger's clock, newest first. They are counted since the service began, some 10,000 events an answer: while `counted_to` is below `count`, the newest days are still to come; ask again. A session's amounts count when it settles.",
  budget: "reads",
  query: Type.Object(
    {
      days: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MOST_DAYS,
          default: USUAL_DAYS,
          description: "The most days of an answer.",
        }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: {
      description: "The days.",
      content: { "application/json": { schema: DailyOutcomes, example } },
    },
  },
  problems: ["not_ready", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ query }) {
    const counts = yield* DailyOutcomesCount;
    const { days, countedTo, count } = yield* counts.newest(query.days ?? USUAL_DAYS);
    if (count === null) return yield* new NotReady({ missing: ["index"] });
    const { supportedMints } = yield* Instance;
    return {
      json: {
        data: days.map((day) => dayRecord(day, supportedMints)),
        counted_to: Number(countedTo),
        count: Number(count),
      },
    };
  }),
);
