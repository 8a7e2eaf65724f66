import { Type } from "@sinclair/typebox";
import type { KnownPlace } from "../../../../core/protocol/rules/transaction-words.ts";
import type {
  PreflightRecord,
  PreparedEscrowRecord,
} from "../../escrow/prepare/prepared-escrow-contract.ts";
import type { MerchantRecord, RegistryEntryRecord } from "../../merchant/merchant-contract.ts";
import { sameNameNotice, statusPill } from "../merchant/merchant-parts.ts";
import { html, type Html, markedText, sentence } from "../shell/html.ts";
import {
  type AmountOf,
  curl,
  durationText,
  facts,
  notice,
  time,
  wholeKey,
} from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { Refused, type Screen, type View } from "../shell/screen.ts";
import type { Page } from "../shell/shell.ts";
import { FIELD_NAMES, type Filled, isOfFields, paymentForm, requestOf } from "./payment-form.ts";
import { actionPage } from "./prepare-action.ts";
import { costParts, placeIn, transactionParts, walletPanel } from "./prepared-parts.ts";

const PATH = "/v1/escrows/prepare?preflight=true";
const WITH_TRANSACTION = `${PATH}&transaction=true`;

type Prepared = { readonly data: PreparedEscrowRecord };

/** The merchant as people know it: its name, who else has that name, and its standing. */
const merchantText = async ({ read }: View<unknown>, wallet: string): Promise<Html> => {
  const at = encodeURIComponent(wallet);
  const [merchant, listed] = await Promise.all([
    read<{ readonly data: MerchantRecord }>(`/v1/merchants/${at}`),
    read<{ readonly data: ReadonlyArray<RegistryEntryRecord> }>(
      `/v1/registry/merchants?q=${at}&limit=5`,
    ),
  ]);
  if (merchant instanceof Refused) return html`${wholeKey(wallet)} is not registered`;
  const { name, status } = merchant.data;
  const row =
    listed instanceof Refused ? undefined : listed.data.find((each) => each.merchant === wallet);
  return html`${name} ${statusPill(status)} ${sameNameNotice(row?.same_name ?? null)}<br />
    ${wholeKey(wallet, `/merchants/${wallet}`)}`;
};

/** What is in the way of the payment, with what to do; a good word where nothing is. */
const readiness = ({ ready, blockers }: PreflightRecord): Html =>
  ready
    ? notice("good", "Relay and ledger would take it now.")
    : html`${blockers.map(({ detail, cure }) => notice("bad", html`${sentence(detail)} ${markedText(cure)}`))}`;

const review = async (
  view: View<unknown>,
  { data }: Prepared,
  place: KnownPlace,
  amount: AmountOf,
): Promise<Html> => {
  const { inputs, preflight, transaction } = data;
  const merchant = await merchantText(view, inputs.merchant);
  return html`<h2>What it comes to</h2>
    ${preflight !== undefined && readiness(preflight)}
    <p class="amount">${amount(inputs.amount_stroops, inputs.mint)}</p>
    ${facts([
      ["To the merchant", merchant],
      ["From the agent", wholeKey(inputs.agent_owner, `/wallets/${inputs.agent_owner}`)],
      preflight === undefined || preflight.agent_balance_stroops === null
        ? null
        : ["The agent has", amount(preflight.agent_balance_stroops, inputs.mint)],
      ["Escrow", wholeKey(data.escrow_pda)],
      ["Attestor", inputs.attestor === undefined ? "any" : wholeKey(inputs.attestor)],
      [
        "Ends",
        inputs.expires_at === undefined
          ? html`${durationText(inputs.ttl_seconds)} after it lands`
          : time(inputs.expires_at),
      ],
      ["Task hash", wholeKey(inputs.task_hash)],
    ])}
    ${
      preflight !== undefined &&
      html`<h2>What it costs</h2>
        ${costParts(preflight.cost)}`
    }
    <h2>What the transaction does</h2>
    ${
      transaction === undefined
        ? html`<p class="empty">There is none to sign while something is in the way.</p>`
        : inputs.nonce === null
          ? notice(
              "warn",
              "Fill in an order to sign here: it keeps two payments for one task apart.",
            )
          : transactionParts(transaction, place, "pay")
    }`;
};

/** The form, and below it what the service makes of what stands in it. */
const paymentPage = async (
  view: View<unknown>,
  query: Filled,
  place: KnownPlace,
): Promise<Page> => {
  const { read, amount, origin } = view;
  const mints = place.supportedMints;
  const [first] = mints;
  const mint = query.mint ?? first?.address ?? "";
  // A link to the form may fill in a part; a form that was sent has the agent's field, empty or not.
  const isSent = query.agent !== undefined;
  const filled: Filled = isSent
    ? { ...query, mint }
    : { ttl: "3600", nonce: crypto.randomUUID(), ...query, mint };
  const body = requestOf(filled, mints);
  const checked = isSent ? await read<Prepared>(PATH, body) : null;
  const isReady =
    checked !== null && !(checked instanceof Refused) && checked.data.preflight?.ready === true;
  const whole = isReady ? await read<Prepared>(WITH_TRANSACTION, body) : null;
  const prepared = whole === null || whole instanceof Refused ? checked : whole;
  const problem = prepared instanceof Refused ? prepared.problem : null;
  return {
    title: "Prepare a payment",
    status: problem?.status ?? 200,
    scripts: ["wallets.js"],
    body: html`<h1>Prepare a payment</h1>
      <p class="lead">
        The money waits in an escrow of the ledger. The merchant is paid when its attestor signs
        that it delivered; else the agent gets it back. Nothing is signed or sent by this service.
      </p>
      ${
        problem !== null &&
        (isOfFields(problem)
          ? notice("bad", "Not prepared yet: see the fields marked below.")
          : problemNotice(problem))
      }
      ${paymentForm(filled, mints, problem)}
      ${
        prepared === null || prepared instanceof Refused
          ? walletPanel("fill", "A wallet only gives its address here; nothing is signed.")
          : await review(view, prepared, place, amount)
      }
      ${whole instanceof Refused && problemNotice(whole.problem)}
      ${isSent && curl(origin, WITH_TRANSACTION, body)}
      <p class="note">
        A session, one escrow for many calls to one merchant, is opened by the
        <a href="/client/settlement-evidence.tgz">client package</a>.
      </p>`,
  };
};

const Text = Type.Optional(Type.String({ maxLength: 4096 }));
const NAMES = [...FIELD_NAMES, "escrow", "action", "payer"];

/** The page that prepares a payment, or what can be done with an escrow, for a wallet. */
export const prepareScreen: Screen = {
  path: "/prepare",
  query: Type.Object(Object.fromEntries(NAMES.map((name) => [name, Text])), {
    additionalProperties: false,
  }),
  show: async (view) => {
    const query = view.query as Filled & Readonly<Record<string, string | undefined>>;
    const trust = await view.read<object>("/.well-known/evidence-trust.json");
    if (trust instanceof Refused) return trust;
    const place = placeIn(trust);
    const { escrow, action = "", payer = "" } = query;
    if (escrow !== undefined) return actionPage(view, { escrow, action, payer }, place);
    if (place === null)
      return {
        title: "Prepare a payment",
        body: html`<h1>Prepare a payment</h1>
          ${notice("warn", "This service's trust document cannot be read, so nothing is prepared here.")}`,
      };
    return paymentPage(view, query, place);
  },
};
