import type { Static } from "@sinclair/typebox";
import type { LiveEscrow } from "../../escrow/escrow-contract.ts";
import type { SettlementEventRecord } from "../../index/event-contract.ts";
import { html, type Html } from "../shell/html.ts";
import { type AmountOf, key, type Step, time, timeline } from "../shell/parts.ts";

type Escrow = Static<typeof LiveEscrow>;

const SETTLED_WORDS = {
  release: "Settled: the merchant was paid",
  refund: "Settled: the money went back",
  cancel: "Settled: the merchant cancelled",
} as const;

/** Where an event is on the ledger. */
const placeOf = (event: SettlementEventRecord | undefined): Html | false =>
  event !== undefined &&
  html`event
    <a href="/log?leaf=${event.position}">${event.position}</a
    >${event.slot !== null && html`, slot ${event.slot}`}${event.signature !== null && html`, ${key(event.signature, `/transactions/${event.signature}`)}`}`;

/** What a session has paid. Of a settled one the account does not say which part was captured before. */
const captured = (escrow: Escrow, amount: AmountOf): ReadonlyArray<Step> => {
  const { session_key: session, released_stroops: released, deliveries, settled_by: by } = escrow;
  if (session === null || released === "0") return [];
  return [
    {
      name: by === null ? "Captured" : "Attested last",
      at: escrow.attested_at,
      note: html`${amount(released, escrow.mint)} paid to the merchant
      ${by === null ? "so far" : "in all"}, for ${deliveries}
      ${deliveries === 1 ? "delivery" : "deliveries"}`,
      tone: "good",
    },
  ];
};

const closed = ({ closes_at: end }: Escrow): ReadonlyArray<Step> =>
  end === null
    ? []
    : [{ name: "Closed by the agent", at: null, note: html`ends at ${time(end)}`, tone: "wait" }];

const settled = (
  escrow: Escrow,
  event: SettlementEventRecord | undefined,
  ledgerTime: string,
): Step => {
  const { settled_by: by, settled_at: at, refundable, expires_at, closes_at } = escrow;
  if (by !== null)
    return {
      name: SETTLED_WORDS[by],
      at,
      note: placeOf(event),
      tone: by === "release" ? "good" : "warn",
    };
  return refundable
    ? {
        name: "Ended, not settled",
        at: closes_at ?? expires_at,
        note: html`now ${time(ledgerTime)}`,
        tone: "warn",
      }
    : { name: "Not settled yet", at: null, tone: "wait" };
};

/** An escrow's life: created, captured, closed, settled, archived, with the time between and where each is on the ledger. */
export const escrowTimeline = (
  escrow: Escrow,
  events: ReadonlyArray<SettlementEventRecord>,
  ledgerTime: string,
  amount: AmountOf,
): Html => {
  const created = events.find(({ kind }) => kind === "escrow_created");
  const last = events.find(({ kind }) => kind !== "escrow_created");
  return timeline([
    { name: "Created", at: escrow.created_at, note: placeOf(created), tone: "good" },
    ...captured(escrow, amount),
    ...closed(escrow),
    settled(escrow, last, ledgerTime),
    ...(escrow.archived === null
      ? []
      : [
          {
            name: "Archived",
            at: null,
            note: html`the ledger keeps the digest ${key(escrow.archived.digest)}`,
            tone: "plain" as const,
          },
        ]),
  ]);
};
