import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";
import { refundUrl, solanaPayLink } from "../../actions/action-paths.ts";
import { escapeHtml } from "../html-text.ts";
import type { AmountHtml } from "./amount-html.ts";
import { qrCodeSvg } from "./qr-code.ts";

/** The refund of an expired escrow as a link and a QR code for any wallet; without a public address, why there is none. */
const linkHtml = (publicUrl: string | null, escrow: string): string => {
  if (publicUrl === null)
    return `<p>No wallet link can be made: this service has no public address. Its operator sets <code>PUBLIC_URL</code>. Without a link, <code>POST /v1/escrows/${escapeHtml(escrow)}/refund/prepare</code> gives the instructions.</p>`;
  const payLink = solanaPayLink(refundUrl(publicUrl, escrow));
  const link = escapeHtml(payLink);
  return `${qrCodeSvg(payLink, "QR code that runs the refund")}
<p>Scan it with a Solana wallet, or open <a href="${link}">${link}</a></p>`;
};

/** How any wallet refunds an expired escrow, and who gets what; empty for an escrow in another state. */
export const refundSection = (
  { data: { escrow, settlement_decision: decision } }: EvidencePacketRecord,
  publicUrl: string | null,
  amountHtml: AmountHtml,
): string =>
  decision.reason !== "ttl_expired_refund_available"
    ? ""
    : `<section class="refund">
<h2>Run the refund</h2>
<p>Anyone may run it. The whole ${amountHtml(escrow.amount_stroops)} goes to the agent <code>${escapeHtml(escrow.agent_owner)}</code>, and the vault's rent to <code>${escapeHtml(escrow.rent_payer)}</code>, who paid it. Nothing goes to whoever runs it, who pays the network's fee and, where the agent has no token account, the rent of one.</p>
${linkHtml(publicUrl, escrow.escrow_pda)}
</section>`;
