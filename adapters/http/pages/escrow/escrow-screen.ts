import type { Static } from "@sinclair/typebox";
import type { LiveEscrow } from "../../escrow/escrow-contract.ts";
import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";
import type { SettlementEventRecord } from "../../index/event-contract.ts";
import { html, type Html } from "../shell/html.ts";
import {
  type AmountOf,
  countdown,
  curl,
  type Fact,
  facts,
  json,
  live,
  notice,
  statePill,
  tabs,
  time,
  wholeKey,
} from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { partOr, Refused, type Screen } from "../shell/screen.ts";
import { escrowTimeline } from "./escrow-timeline.ts";
import { nextSteps } from "./next-steps.ts";

type Read = {
  readonly data: Static<typeof LiveEscrow>;
  readonly context: {
    readonly slot: number;
    readonly commitment: string;
    readonly ledger_time: string;
    readonly source?: "index";
  };
};
type Escrow = Read["data"];

/** The end of an escrow: what its agent set by closing it, else its expiry. */
const endOf = ({ closes_at, expires_at }: Escrow): string => closes_at ?? expires_at;

/** What became of the payment, in one sentence. */
const sentenceOf = (escrow: Escrow, amount: AmountOf): Html => {
  const whole = amount(escrow.amount_stroops, escrow.mint);
  const paid = amount(escrow.released_stroops, escrow.mint);
  switch (escrow.state) {
    case "Pending":
      if (escrow.refundable)
        return html`It ended without
        ${escrow.released_stroops === "0" ? "a delivery claim" : "a last claim"}. Anyone can send
        ${amount(escrow.left_stroops, escrow.mint)} back to the agent now.`;
      return escrow.session_key === null
        ? html`${whole} wait for the merchant's attestor to sign that it delivered.`
        : html`An open session: ${paid} of ${whole} used so far,
          ${amount(escrow.left_stroops, escrow.mint)} left.`;
    case "Fulfilled":
      return html`The merchant was paid the whole ${whole}, on its attestor's signed claim.`;
    case "PartiallyFulfilled":
      return html`The merchant was paid ${paid} of ${whole}, on its attestor's signed claim; the
      rest is the agent's.`;
    case "Refunded":
      return escrow.settled_by === "cancel"
        ? html`The merchant gave the whole ${whole} back to the agent.`
        : html`The whole ${whole} went back to the agent: no delivery claim came in time.`;
  }
};

const sessionFacts = (escrow: Escrow, amount: AmountOf): ReadonlyArray<Fact> =>
  escrow.session_key === null
    ? []
    : [
        ["Session key", wholeKey(escrow.session_key)],
        ["Used", amount(escrow.released_stroops, escrow.mint)],
        ["Left", amount(escrow.left_stroops, escrow.mint)],
        ["Deliveries attested", escrow.deliveries],
      ];

const parties = (escrow: Escrow): Html =>
  facts([
    ["Agent", wholeKey(escrow.agent_owner, `/wallets/${escrow.agent_owner}`)],
    ["Merchant", wholeKey(escrow.merchant, `/merchants/${escrow.merchant}`)],
    ["Attestor", wholeKey(escrow.attestor)],
    [
      "Token",
      html`${wholeKey(escrow.mint)}
      ${!escrow.mint_supported && "not a token of this service's list"}`,
    ],
    ["Rent paid by", wholeKey(escrow.rent_payer, `/wallets/${escrow.rent_payer}`)],
    ["Task hash", wholeKey(escrow.task_hash)],
  ]);

const attestation = (escrow: Escrow): Html =>
  escrow.proof_hash === null
    ? html`<p class="empty">No delivery claim has reached the ledger.</p>`
    : html`${facts([
          ["Proof hash", wholeKey(escrow.proof_hash)],
          ["Signed at", time(escrow.attested_at)],
          ["Signed by", wholeKey(escrow.attestor)],
        ])}
        <p>
          The hash is of a delivery proof: a template and a payload. Whoever has the payload can
          check that it is this one:
          <a href="/verify?escrow=${escrow.escrow_pda}">check a payload</a>.
        </p>`;

/** The page of one escrow. */
export const escrowScreen: Screen = {
  path: "/escrows/{pda}",
  show: async ({ params, read, amount, origin, publicUrl }) => {
    const pda = encodeURIComponent(params["pda"] ?? "");
    const [escrow, events, packet] = await Promise.all([
      read<Read>(`/v1/escrows/${pda}`),
      read<{ readonly data: ReadonlyArray<SettlementEventRecord> }>(
        `/v1/indexer/events?escrow=${pda}&limit=5`,
      ),
      read<EvidencePacketRecord>(`/v1/evidence/${pda}`),
    ]);
    if (escrow instanceof Refused) return escrow;
    const { data, context } = escrow;
    const known = events instanceof Refused ? [] : events.data;
    return {
      title: `Escrow ${data.escrow_pda}`,
      follows: `/v1/indexer/events/stream?escrow=${pda}&commitment=confirmed`,
      body: html`<h1>Escrow</h1>
        <p>${wholeKey(data.escrow_pda)}</p>
        ${live(
          "state",
          html`<p class="amount">${amount(data.amount_stroops, data.mint)}</p>
            <p>
              ${statePill(data.state, data.refundable)}${data.archived !== null && html` archived`}
            </p>
            <p class="lead">${sentenceOf(data, amount)}</p>
            ${data.state === "Pending" && !data.refundable && html`<p>Ends in ${countdown(context.ledger_time, endOf(data))}, at ${time(endOf(data))} by the ledger's clock.</p>`}
            ${context.source === "index" && notice("warn", html`No node of the ledger answers. This is what the index proved up to slot ${context.slot}.`)}`,
        )}
        <div class="columns">
          <section>
            <h2>What happened</h2>
            ${live(
              "timeline",
              html`${
                events instanceof Refused &&
                html`<p>Events and transactions are missing here.</p>
                  ${problemNotice(events.problem)}`
              }${escrowTimeline(data, known, context.ledger_time, amount)}`,
            )}
          </section>
          <section>
            <h2>What can be done</h2>
            ${live("next", nextSteps(data, origin, publicUrl))}
          </section>
          <section>
            <h2>Who and what</h2>
            ${parties(data)}
          </section>
          <section>
            <h2>The claim</h2>
            ${live("claim", html`${facts(sessionFacts(data, amount))}${attestation(data)}`)}
          </section>
        </div>
        <h2>The record</h2>
        ${tabs("record", [
          {
            name: "Decoded",
            isOpen: true,
            body: html`${json("The escrow as the service reads it", data)}${curl(origin, `/v1/escrows/${data.escrow_pda}`)}`,
          },
          {
            name: "Raw account",
            body: partOr(
              packet,
              (it) =>
                facts([
                  ["Owner", wholeKey(it.data.account.owner)],
                  ["Bytes in base64", wholeKeyBytes(it.data.account.data_base64)],
                ]),
              problemNotice,
            ),
          },
          {
            name: "Evidence packet",
            body: partOr(
              packet,
              (it) =>
                html`<p>
                    <a href="/v1/evidence/${data.escrow_pda}">The packet as a page to print</a> ·
                    <a href="/v1/evidence/${data.escrow_pda}?download=json">save it</a> ·
                    <a href="/verify?escrow=${data.escrow_pda}">verify it</a> ·
                    <a href="/receipts/${data.escrow_pda}">save a receipt that checks itself</a>
                  </p>
                  ${json("The packet", it)}${curl(origin, `/v1/evidence/${data.escrow_pda}`)}`,
              problemNotice,
            ),
          },
          {
            name: "Log proof",
            body: partOr(
              packet,
              ({ references: { log } }) =>
                log === null
                  ? html`<p class="empty">No published checkpoint covers its last event yet.</p>`
                  : html`${facts([
                      ["Log", log.origin],
                      ["Leaf", html`<a href="/log?leaf=${log.index}">${log.index}</a>`],
                    ])}${json("The proof", log.proof.split("\n"))}${curl(origin, `/v1/evidence/${data.escrow_pda}/proof`)}`,
              problemNotice,
            ),
          },
        ])}
        <p class="note">
          Read at slot ${context.slot}, ${context.commitment}, ledger time
          ${time(context.ledger_time)}.
        </p>`,
    };
  },
};

/** Bytes of any length in base64, to be copied. */
const wholeKeyBytes = (base64: string): Html => json("Bytes", base64);
