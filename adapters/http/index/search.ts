import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import {
  ESCROW_FOUND_BY,
  MATCH_KINDS,
  MOST_MATCHES,
  search,
  SEARCH_FORMS,
  type SearchMatch,
} from "../../../core/use-cases/index/search.ts";
import { EXAMPLE_WALLET, nullable, oneOf, record } from "../openapi/values.ts";
import { NotReady } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";

const Match = record("SearchMatch", "One thing that the text names.", {
  kind: oneOf(
    MATCH_KINDS,
    "What it is. Whether there is such a `transaction` is not looked up: its page asks the ledger.",
  ),
  path: Type.String({
    description:
      "Its page for people, on this service. Of a transaction `/transactions/{q}`: no answer repeats 64 bytes that could be a private key, so put in what you sent.",
  }),
  label: nullable(Type.String({ description: "Its address or number, or a merchant's name." }), {
    description: "Null for a transaction.",
  }),
  by: nullable(oneOf(ESCROW_FOUND_BY, "By what of it an escrow was found."), {
    description: "Null for what is no escrow.",
  }),
  is_exact: Type.Boolean({
    description: "False for a merchant of whose name or addresses the text is a part only.",
  }),
});

/** What a text names, as JSON. */
export const SearchAnswer = record("SearchAnswer", "What a text names.", {
  understood_as: oneOf(SEARCH_FORMS, "What form the text has, which decides what is looked for."),
  data: Type.Array(Match, {
    description: `At most ${MOST_MATCHES} merchants, or as many escrows of a hash and one of a digest.`,
  }),
});

const matchRecord = (match: SearchMatch): Static<typeof Match> => {
  const { kind } = match;
  const exact = { kind, by: null, is_exact: true };
  switch (kind) {
    case "escrow":
      return {
        ...exact,
        path: `/escrows/${match.escrow}`,
        label: match.escrow,
        by: match.by,
      };
    case "wallet":
      return { ...exact, path: `/wallets/${match.wallet}`, label: match.wallet };
    case "merchant":
      return {
        ...exact,
        path: `/merchants/${match.wallet}`,
        label: match.name,
        is_exact: match.isExact,
      };
    case "transaction":
      return {
        ...exact,
        path: "/transactions/{q}",
        label: null,
      };
    case "log_leaf":
      return { ...exact, path: `/log?leaf=${match.index}`, label: String(match.index) };
  }
};

/** `GET /v1/search` */
export const searchEndpoint = endpoint({
  method: "GET",
  path: "/v1/search",
  operationId: "search",
  tag: "Index",
  summary: "Find what a text names",
  description:
    "Takes an escrow, a wallet, a merchant's wallet, account, attestor or name, a transaction's signature, a task or proof hash, a packet's `digest_sha256`, or a position of the log. Only the index is looked through; of packets, the last 20,000 signed ones of settled escrows that this service served and keeps outside its memory.",
  budget: "reads",
  query: Type.Object(
    {
      q: Type.String({
        description: "The text. Blanks around it do not count, nor does `sha256:` before a hash.",
        maxLength: 200,
        examples: [EXAMPLE_WALLET],
      }),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: {
      description: "What it names; no match is no failure.",
      content: {
        "application/json": {
          schema: SearchAnswer,
          example: () => ({
            understood_as: "log_position" as const,
            data: [matchRecord({ kind: "log_leaf", index: 1 })],
          }),
        },
      },
    },
  },
  problems: ["not_ready", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ query }) {
    const { form, matches } = yield* search(query.q);
    if (matches === null) return yield* new NotReady({ missing: ["index"] });
    return { json: { understood_as: form, data: matches.map(matchRecord) } };
  }),
);
