import type { Static } from "@sinclair/typebox";
import type { RelayOutcome } from "../../relay/relay-contract.ts";
import { html, type Html } from "../shell/html.ts";
import {
  codeBlock,
  curl,
  type Fact,
  facts,
  json,
  key,
  live,
  notice,
  pill,
  tabs,
  wholeKey,
} from "../shell/parts.ts";
import { foreignLines } from "../../../../core/domain/encoding/foreign-text.ts";
import { Refused, type Screen } from "../shell/screen.ts";

type Outcome = Static<typeof RelayOutcome>;

const statusPill = ({ status, error }: Outcome): Html => {
  if (status === "landed") return error === null ? pill("good", "landed") : pill("bad", "failed");
  return status === "expired" ? pill("warn", "never landed") : pill("wait", "pending");
};

const sentenceOf = ({ status, error, commitment, program_error: own, nodes }: Outcome): Html => {
  if (status === "landed" && error === null)
    return html`It is in a block, ${commitment ?? "seen"}, and did what it says.`;
  // Two addresses may lead to one node.
  const by =
    nodes === null
      ? ""
      : nodes === 1
        ? " One node says so."
        : ` Asked at ${nodes} addresses, the nodes say so.`;
  if (status === "landed")
    return html`It is in a block and failed:
    ${own === null ? (error?.kind ?? "an error") : `${own.name}, ${own.message}`}.${by}`;
  return status === "expired"
    ? html`It never landed, and never can: its blockhash is over.${by}`
    : html`Nobody can say yet: it may still land.`;
};

/** Whether the payment may be signed anew, which is the question of whoever looks here. */
const again = (outcome: Outcome): Html => {
  if (outcome.superseded_by !== null)
    return notice(
      "good",
      html`Another transaction did the same:
      ${key(outcome.superseded_by, `/transactions/${outcome.superseded_by}`)}. Do not sign again.`,
    );
  if (outcome.safe_to_sign_again)
    return notice("good", "Safe to sign again: the payment cannot happen twice.");
  return outcome.status === "landed" && outcome.error === null
    ? notice("plain", "Do not sign it again: it happened.")
    : notice("warn", "Do not sign again yet: this one may still count.");
};

const isFinal = ({ status, commitment }: Outcome): boolean =>
  status === "expired" || commitment === "finalized";

/** The stream with the news of a transaction: those of its first escrow, as soon as they are confirmed. */
const newsOf = ({ escrows: [escrow] }: Outcome): string =>
  `/v1/indexer/events/stream?commitment=confirmed${escrow === undefined ? "" : `&escrow=${escrow}`}`;

/** What became of a transaction, until that is final. */
export const transactionScreen: Screen = {
  path: "/transactions/{signature}",
  show: async ({ params, read, origin }) => {
    const path = `/v1/relay/${encodeURIComponent(params["signature"] ?? "")}`;
    const answer = await read<{ readonly data: Outcome }>(path);
    if (answer instanceof Refused) return answer;
    const { data } = answer;
    return {
      title: `Transaction ${data.signature}`,
      ...(isFinal(data) ? {} : { follows: newsOf(data) }),
      body: html`<h1>Transaction</h1>
        <p>${wholeKey(data.signature)}</p>
        ${live(
          "outcome",
          html`<p>${statusPill(data)}</p>
            <p class="lead">${sentenceOf(data)}</p>
            ${again(data)}
            ${facts([
              data.slot === null ? null : ["Slot", data.slot],
              data.commitment === null ? null : ["Commitment", data.commitment],
              data.program === null ? null : ["Failing program", wholeKey(data.program)],
              data.last_valid_block_height === null
                ? null
                : ["Can land up to block height", data.last_valid_block_height],
              ...data.escrows.map((escrow): Fact => [
                escrow === data.recreatable_escrow ? "Creates the escrow" : "Escrow",
                wholeKey(escrow, `/escrows/${escrow}`),
              ]),
              [
                "Elsewhere",
                html`<a href="${data.explorer_url}" rel="noreferrer">Solana Explorer</a>`,
              ],
            ])}
            ${tabs("transaction", [
              {
                name: "Decoded",
                isOpen: true,
                body: html`${json("The outcome", data)}${curl(origin, path)}`,
              },
              {
                name: "Logs",
                body:
                  data.logs.length === 0
                    ? html`<p class="empty">Only failures keep their logs here.</p>`
                    : codeBlock("Log lines", foreignLines(data.logs.join("\n"))),
              },
            ])}`,
        )}`,
    };
  },
};
