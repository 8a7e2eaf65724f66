import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { readLogTile } from "../../../core/use-cases/log/serving/read-log.ts";
import { endpoint } from "../server/endpoint.ts";

/** A tile of a signed size never changes, full or partial. */
const CACHING = "public, max-age=31536000, immutable";

const Level = Type.String({
  description: "The level of a tile of hashes, or `entries` for a bundle of leaves.",
  examples: ["0", "entries"],
});
const Part = (examples: Array<string>) =>
  Type.String({
    description:
      "A part of the tile's number: `x` and three digits, or the last three digits, with `.p` where a width follows. Or that width, 1 to 255.",
    examples,
  });
const First = Part(["067"]);
const Second = Part(["234"]);
const Third = Part(["067"]);
const Fourth = Part(["12"]);

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
  problems: ["not_in_log", "store_unavailable"],
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
    path: "/log/tile/{level}/{first}",
    operationId: "readLogTile",
    summary: "A tile of the log, or a bundle of its entries",
    description: described("with a number below 1000"),
    params: { level: Level, first: First },
  }).handle(({ params: { level, first } }) => answerAt(level, first)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{second}",
    operationId: "readLogTileOfTwoSegments",
    summary: "A tile whose number has two groups, or a partial one of one",
    description: described("such as `x001/234` or `067.p/12`"),
    params: { level: Level, first: First, second: Second },
  }).handle(({ params: { level, first, second } }) => answerAt(level, first, second)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{second}/{third}",
    operationId: "readLogTileOfThreeSegments",
    summary: "A tile whose number has three groups, or a partial one of two",
    description: described("such as `x001/x234/067` or `x001/234.p/12`"),
    params: { level: Level, first: First, second: Second, third: Third },
  }).handle(({ params: { level, first, second, third } }) => answerAt(level, first, second, third)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{second}/{third}/{fourth}",
    operationId: "readLogTileOfFourSegments",
    summary: "A partial tile whose number has three groups",
    description: described("such as `x001/x234/067.p/12`"),
    params: { level: Level, first: First, second: Second, third: Third, fourth: Fourth },
  }).handle(({ params: { level, first, second, third, fourth } }) =>
    answerAt(level, first, second, third, fourth),
  ),
];
