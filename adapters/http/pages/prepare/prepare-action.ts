import type { Static } from "@sinclair/typebox";
import type { KnownPlace } from "../../../../core/protocol/rules/transaction-words.ts";
import type { PreparedCallRecord } from "../../escrow/prepare/prepared-call-contract.ts";
import type { LiveEscrow } from "../../escrow/escrow-contract.ts";
import { ACTION_WORDS } from "../escrow/next-steps.ts";
import { html } from "../shell/html.ts";
import { curl, facts, key, notice, statePill, time, wholeKey } from "../shell/parts.ts";
import { problemNotice } from "../shell/problem-screen.ts";
import { Refused, type View } from "../shell/screen.ts";
import type { Page } from "../shell/shell.ts";
import { payerForm } from "./payment-form.ts";
import { costParts, transactionParts, walletPanel } from "./prepared-parts.ts";

type Escrow = Static<typeof LiveEscrow>;

/** The wallet that an action is prepared for when the reader named none: the one that must sign it. */
const signerOf = (by: string, escrow: Escrow): string =>
  by === "merchant_wallet" ? escrow.merchant : by === "agent_wallet" ? escrow.agent_owner : "";

/** What can be done with an escrow, prepared for a wallet. */
export const actionPage = async (
  { read, origin }: View<unknown>,
  asked: { readonly escrow: string; readonly action: string; readonly payer: string },
  place: KnownPlace | null,
): Promise<Page | Refused> => {
  const live = await read<{ readonly data: Escrow }>(
    `/v1/escrows/${encodeURIComponent(asked.escrow)}`,
  );
  if (live instanceof Refused) return live;
  const { data: escrow } = live;
  const title = "Prepare a transaction";
  const head = html`<h1>${title}</h1>
    <p>
      Escrow ${wholeKey(escrow.escrow_pda, `/escrows/${escrow.escrow_pda}`)}
      ${statePill(escrow.state, escrow.refundable)}
    </p>`;
  const next = escrow.next_actions.find(({ action }) => action === asked.action);
  if (next === undefined)
    return {
      title,
      body: html`${head}
      ${notice("warn", "This cannot be done with the escrow now. Its page says what can.")}`,
    };
  if (next.awaiting !== null)
    return {
      title,
      body: html`${head}
        <p class="lead">${ACTION_WORDS[next.action]}.</p>
        ${notice("wait", "It needs more than a wallet: a signature of the attestor, or an account that can be paid. The merchant's client does it.")}`,
    };
  const payer = asked.payer === "" ? signerOf(next.by, escrow) : asked.payer;
  const path = `${next.prepare.path}?transaction=true`;
  const body = { payer };
  const prepared =
    payer === "" ? null : await read<{ readonly data: PreparedCallRecord }>(path, body);
  const problem = prepared instanceof Refused ? prepared.problem : null;
  const form = payerForm(escrow.escrow_pda, next.action, payer, problem);
  const lead = html`${head}
    <p class="lead">${ACTION_WORDS[next.action]}.</p>
    ${form}`;
  if (prepared === null)
    return {
      title,
      scripts: ["wallets.js"],
      body: html`${lead}
      ${walletPanel("fill", "A wallet only gives its address here; nothing is signed.")}`,
    };
  if (prepared instanceof Refused)
    return {
      title,
      status: prepared.problem.status,
      body: html`${lead}${problemNotice(prepared.problem)}`,
    };
  const { data } = prepared;
  return {
    title,
    scripts: ["wallets.js"],
    body: html`${lead} ${data.warnings.map((each) => notice("warn", each.replaceAll("_", " ")))}
      ${facts([
        ["Too late from", data.until === null ? "never" : time(data.until)],
        ...data.payouts.map(
          ({ whose, account }) => [`Pays the ${whose}`, html`into ${key(account)}`] as const,
        ),
      ])}
      <h2>What it costs</h2>
      ${costParts(data.cost)}
      <h2>What the transaction does</h2>
      ${
        data.transaction === undefined || place === null
          ? notice("warn", "The service gave no transaction that can be explained here.")
          : transactionParts(data.transaction, place, next.action)
      }
      ${curl(origin, path, body)}`,
  };
};
