import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { readLogTile } from "../../../core/use-cases/log/read-log.ts";
import { endpoint } from "../server/endpoint.ts";

/** A tile of a signed size never changes, full or partial. */
const CACHING = "public, max-age=31536000, immutable";

const Level = Type.String({
  description: "The level of a tile of hashes, or `entries` for a bundle of leaves.",
  examples: ["0", "entries"],
});
const Group = Type.String({
  description: "Three digits of the tile's number behind `x`.",
  examples: ["x001"],
});
const Last = Type.String({
  description:
    "The last three digits of the tile's number, or the width of a tile that is not full, behind a segment such as `067.p`.",
  examples: ["067"],
});
const GroupOrPartial = Type.String({
  description: "Three digits behind `x`, or the last three followed by `.p`.",
  examples: ["x001", "067.p"],
});

const COMMON = {
  method: "GET",
  tag: "Settlement log",
  budget: "reads",
  answers: {
    200: {
      description: "The hashes, 32 bytes each, or the entries, each behind its length as u16 BE.",
      content: {
        "application/octet-stream": { schema: Type.String(), example: () => "" },
      },
      headers: { "cache-control": "For ever: it never changes." },
    },
  },
  problems: ["not_in_log", "store_unavailable", "ledger_unavailable", "ledger_timeout"],
} as const;

const answerAt = Effect.fnUntraced(function* (...segments: ReadonlyArray<string>) {
  const bytes = yield* readLogTile(["tile", ...segments].join("/"));
  return { bytes: new Uint8Array(bytes), headers: { "cache-control": CACHING } };
});

const described = (groups: string) =>
  `A tile of C2SP tlog-tiles, ${groups}. Those of every size that was signed are there. \`.p/<W>\` behind the number asks for the first W of 256.`;

/**
 * `GET /log/tile/<L>/<N>[.p/<W>]`, an operation for each number of segments: a path parameter of OpenAPI has no
 * slashes. So are numbers up to 999,999,999 read.
 */
export const logTileEndpoints = [
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{last}",
    operationId: "readLogTile",
    summary: "A tile of the log, or a bundle of its entries",
    description: described("with a number below 1000"),
    params: { level: Level, last: Last },
  }).handle(({ params: { level, last } }) => answerAt(level, last)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{last}",
    operationId: "readLogTileOfTwoSegments",
    summary: "A tile whose number has two groups, or a partial one of one",
    description: described("such as `x001/234` or `067.p/12`"),
    params: { level: Level, first: GroupOrPartial, last: Last },
  }).handle(({ params: { level, first, last } }) => answerAt(level, first, last)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{second}/{last}",
    operationId: "readLogTileOfThreeSegments",
    summary: "A tile whose number has three groups, or a partial one of two",
    description: described("such as `x001/x234/067` or `x001/234.p/12`"),
    params: { level: Level, first: Group, second: GroupOrPartial, last: Last },
  }).handle(({ params: { level, first, second, last } }) => answerAt(level, first, second, last)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{second}/{third}/{last}",
    operationId: "readLogTileOfFourSegments",
    summary: "A partial tile whose number has three groups",
    description: described("such as `x001/x234/067.p/12`"),
    params: { level: Level, first: Group, second: Group, third: GroupOrPartial, last: Last },
  }).handle(({ params: { level, first, second, third, last } }) =>
    answerAt(level, first, second, third, last),
  ),
];
