import { type Static, Type } from "@sinclair/typebox";
import type { SearchAnswer } from "../../index/search.ts";
import { echoed, isShort } from "../../../../core/domain/encoding/foreign-text.ts";
import { html, type Html } from "../shell/html.ts";
import { curl, key, table } from "../shell/parts.ts";
import { Moved, Refused, type Screen } from "../shell/screen.ts";
import { searchBox } from "../shell/shell.ts";

type Answer = Static<typeof SearchAnswer>;
type Match = Answer["data"][number];

/** What was understood of a text, and what was looked for. */
const UNDERSTOOD: Readonly<Record<Answer["understood_as"], string>> = {
  address:
    "It is an address. The index has no escrow at it, no escrow that this wallet paid into, and no merchant of this wallet, account or attestor.",
  signature: "It is a transaction's signature.",
  hash: "It is a hash. The index has no escrow of this task or proof hash, and none of the packets that this service keeps has this digest.",
  log_position: "It is a number. The published log has no leaf of it.",
  name: "It is none of the other forms, so it was looked for in the merchants' names and addresses.",
};

const KINDS: Readonly<Record<Match["kind"], string>> = {
  escrow: "Escrow",
  wallet: "Wallet that pays",
  merchant: "Merchant",
  transaction: "Transaction",
  log_leaf: "Leaf of the log",
};

const BY: Readonly<Record<NonNullable<Match["by"]>, string>> = {
  address: "its address",
  task_hash: "its task hash",
  proof_hash: "its proof hash",
  packet_digest: "its packet's digest",
};

/** The page of a match: a transaction's has what was asked for in its path, which no answer repeats. */
const pathOf = ({ path }: Match, asked: string): string =>
  path.replace("{q}", encodeURIComponent(asked));

const matchTable = ({ data }: Answer, asked: string): Html =>
  table({
    caption: "What it names",
    head: ["What", "Which", "Found by"],
    rows: data.map((match) => [
      KINDS[match.kind],
      html`<a href="${pathOf(match, asked)}">${match.label ?? KINDS[match.kind]}</a>
        ${match.kind === "merchant" && key(match.path.slice("/merchants/".length), match.path)}`,
      match.by === null ? (match.is_exact ? "the whole of it" : "a part of it") : BY[match.by],
    ]),
    empty: "",
  });

/** What the index lacks can stand on the ledger already. */
const elsewhere = ({ understood_as: form }: Answer): Html | false =>
  form === "address" &&
  html`<p>
    The ledger can have what the index does not yet: the pages <code>/escrows/ADDRESS</code>,
    <code>/merchants/ADDRESS</code> and <code>/wallets/ADDRESS</code> read it.
  </p>`;

const nothing = (answer: Answer, asked: string): Html =>
  html`<p class="lead">Nothing here has the name <code>${echoed(asked)}</code>.</p>
    <p>${UNDERSTOOD[answer.understood_as]}</p>
    ${elsewhere(answer)}
    <p class="note">
      The box takes an escrow, a transaction's signature, a wallet, a merchant, a task or proof hash
      (64 hex digits), a packet's digest, or a position of the log.
    </p>`;

/** The one search box: leads to the one thing that a text names, or lists what it may name. */
export const searchScreen: Screen = {
  path: "/search",
  query: Type.Object(
    { q: Type.Optional(Type.String({ maxLength: 200 })) },
    { additionalProperties: false },
  ),
  show: async ({ read, query, origin }) => {
    const asked = typeof query["q"] === "string" ? query["q"].trim() : "";
    // A text that is longer could be a private key, which no page repeats.
    const box = searchBox(isShort(asked) ? asked : "", true);
    if (asked === "")
      return {
        title: "Find",
        body: html`<h1>Find</h1>
          ${box}`,
      };
    const path = `/v1/search?q=${encodeURIComponent(asked)}`;
    const answer = await read<Answer>(path);
    if (answer instanceof Refused) return answer;
    const [only, ...others] = answer.data;
    if (only !== undefined && others.length === 0 && only.is_exact)
      return new Moved(pathOf(only, asked));
    return {
      title: "Find",
      body: html`<h1>Find</h1>
        ${box} ${only === undefined ? nothing(answer, asked) : matchTable(answer, asked)}
        ${isShort(asked) && curl(origin, path)}`,
    };
  },
};
