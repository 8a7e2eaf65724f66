import type { Static } from "@sinclair/typebox";
import { refundUrl, solanaPayLink } from "../../actions/action-contract.ts";
import type { LiveEscrow } from "../../escrow/escrow-contract.ts";
import type { NextAction } from "../../escrow/next-action-contract.ts";
import { html, Html } from "../shell/html.ts";
import { curl, time } from "../shell/parts.ts";
import { qrCodeSvg } from "../shell/qr-code.ts";

type Escrow = Static<typeof LiveEscrow>;
type Action = Static<typeof NextAction>;

/** What each action does, in words. */
export const ACTION_WORDS: Readonly<Record<Action["action"], string>> = {
  capture: "Pay the merchant what is attested so far",
  release_escrow: "Pay the merchant and settle",
  cancel_escrow: "Give what is left back to the agent",
  close_session: "End the session within a quarter of an hour",
  claim_refund: "Send what is left to the agent",
  return_rent: "Return the rent to who paid it",
  archive_escrow: "Shrink the account and return its rent",
};

const PARTIES: Readonly<Record<Action["by"], string>> = {
  holder_of_attestation: "whoever holds the attestor's signature",
  merchant_wallet: "the merchant's wallet",
  agent_wallet: "the agent's wallet",
  anyone: "anyone",
};

const AWAITED: Readonly<Record<NonNullable<Action["awaiting"]>, string>> = {
  attestation: "the attestor's signature",
  attestation_and_voucher: "the attestor's signature and a voucher of the session's key",
  payout_account: "a token account of the payee",
};

/** A refund that any wallet runs by a link, where the service has a public address. */
const wallet = (
  action: Action,
  { escrow_pda: pda }: Escrow,
  publicUrl: string | null,
): Html | false => {
  if (action.action !== "claim_refund" || publicUrl === null) return false;
  const link = solanaPayLink(refundUrl(publicUrl, pda));
  return html`<p>With a wallet: <a href="${link}">open it</a>, or scan</p>
    ${new Html(qrCodeSvg(link, "QR code that runs the refund"))}`;
};

/** What a command sends: what the reader must still have stands in it as words. */
const bodyToFill = ({ prepare }: Action): Readonly<Record<string, string>> =>
  Object.fromEntries([
    ...Object.keys(prepare.body).map((name) => [name, name.replaceAll("_", " ").toUpperCase()]),
    ["payer", "YOUR WALLET"],
  ]);

/** What can be done with an escrow now, by whom, and how. */
export const nextSteps = (escrow: Escrow, origin: string, publicUrl: string | null): Html => {
  if (escrow.next_actions.length === 0) return html`<p class="empty">Nothing is left to do.</p>`;
  return html`<ul class="steps">
    ${escrow.next_actions.map((action) => {
      const body = bodyToFill(action);
      return html`<li>
        <strong>${ACTION_WORDS[action.action]}</strong>, by
        ${PARTIES[action.by]}${action.until !== null && html`, until ${time(action.until)}`}${action.awaiting !== null && html`. Still needed: ${AWAITED[action.awaiting]}`}
        ${wallet(action, escrow, publicUrl)}
        ${
          action.awaiting === null &&
          html`<p>
            <a
              href="/prepare?escrow=${escrow.escrow_pda}&amp;action=${action.action}"
              aria-label="Prepare it: ${ACTION_WORDS[action.action]}"
              >Prepare it</a
            >, and sign it with a wallet of this browser
          </p>`
        }
        <details>
          <summary>From a terminal</summary>
          ${curl(origin, action.prepare.path, body)}
        </details>
      </li>`;
    })}
  </ul>`;
};
