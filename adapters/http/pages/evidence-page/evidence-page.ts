import { projectCommand } from "../../../../core/domain/project-command.ts";
import type { SupportedMint } from "../../../../core/domain/supported-mint.ts";
import { refundUrl, solanaPayLink } from "../../actions/action-contract.ts";
import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";
import { once } from "../../server/once.ts";
import { consoleSheet } from "../shell/browser-script.ts";
import { html, Html, sentence } from "../shell/html.ts";
import { amountsIn, notice, time } from "../shell/parts.ts";
import { qrCodeSvg } from "../shell/qr-code.ts";
import { type StaticPage, staticPage } from "../static-page.ts";
import { type AmountHtml, code, evidenceSections } from "./evidence-sections.ts";

const qrCode = (text: string, label: string): Html => new Html(qrCodeSvg(text, label));

/**
 * The refund of an expired escrow as a link and a QR code for any wallet; without a public address, why there is none.
 */
const linkHtml = (publicUrl: string | null, escrow: string): Html => {
  if (publicUrl === null)
    return html`<p>
      No wallet link can be made: this service has no public address. Its operator sets
      <code>PUBLIC_URL</code>. Without a link,
      <code>POST /v1/escrows/${escrow}/refund/prepare</code> gives the instructions.
    </p>`;
  const link = solanaPayLink(refundUrl(publicUrl, escrow));
  return html`${qrCode(link, "QR code that runs the refund")}
    <p>Scan it with a Solana wallet, or open <a href="${sentence(link)}">${sentence(link)}</a></p>`;
};

/** What a refund gives the agent: all that the merchant was not paid. */
const refundShare = (
  { amount_stroops: amount, released_stroops: released }: EvidencePacketRecord["data"]["escrow"],
  amountHtml: AmountHtml,
): Html =>
  released === "0"
    ? html`The whole ${amountHtml(amount)} goes`
    : html`The ${amountHtml((BigInt(amount) - BigInt(released)).toString())} that are left go`;

/** How any wallet refunds an expired escrow, and who gets what; false for an escrow in another state. */
const refundSection = (
  { data: { escrow, settlement_decision: decision } }: EvidencePacketRecord,
  publicUrl: string | null,
  amountHtml: AmountHtml,
): Html | false =>
  decision.reason === "ttl_expired_refund_available" &&
  html`<section>
    <h2>Run the refund</h2>
    <p>
      Anyone may run it. ${refundShare(escrow, amountHtml)} to the agent
      ${code(escrow.agent_owner)}, and the vault's rent to ${code(escrow.rent_payer)}, who paid it.
      Nothing goes to whoever runs it, who pays the network's fee and, where the agent has no token
      account, the rent of one.
    </p>
    ${linkHtml(publicUrl, escrow.escrow_pda)}
  </section>`;

/** How much of a session's money was used, false for a single payment. */
const usedHtml = (
  { data: { escrow } }: EvidencePacketRecord,
  amountHtml: AmountHtml,
): Html | false => {
  if (escrow.session_key === null) return false;
  const used = html`${amountHtml(escrow.released_stroops)} of ${amountHtml(escrow.amount_stroops)}
  used for ${deliveriesText(escrow.deliveries)}`;
  return escrow.state === "Pending"
    ? html`Open session: ${used} so far. `
    : html`Closed: ${used}. `;
};

const deliveriesText = (count: number): string =>
  count === 1 ? "1 delivery" : `${count} deliveries`;

/**
 * The packet in one or two sentences, as HTML: what the ledger did, and on whose statement. It never says that
 * something was delivered.
 */
const evidenceSummary = ({ data }: EvidencePacketRecord, amountHtml: AmountHtml): Html => {
  const { escrow, settlement_decision: decision, as_of: asOf } = data;
  const at = time(decision.settled_at ?? asOf?.ledger_time ?? "");
  const amount = amountHtml(escrow.amount_stroops);
  const word = "on a statement signed by the merchant's attestor";
  if (decision.status === "pending" && escrow.released_stroops !== "0") {
    const rest = (BigInt(escrow.amount_stroops) - BigInt(escrow.released_stroops)).toString();
    const next =
      decision.reason === "ttl_expired_refund_available"
        ? "It had ended; anyone may claim the rest for the agent."
        : "It had not ended.";
    return html`By ${at} the ledger had paid ${amountHtml(escrow.released_stroops)} of ${amount} to
    the merchant, ${word}, and held ${amountHtml(rest)} in custody. ${next}`;
  }
  switch (decision.reason) {
    case "awaiting_delivery_proof":
      return html`The ledger held ${amount} in custody at ${at}. No delivery proof had been
      presented, and the escrow had not expired.`;
    case "ttl_expired_refund_available":
      return html`The ledger held ${amount} in custody at ${at}. The escrow had expired without a
      delivery proof; anyone may claim the refund for the agent.`;
    case "merchant_delivery_proof_verified":
      return html`The ledger released the whole ${amount} to the merchant at ${at}, ${word}.`;
    case "merchant_partial_delivery_proof_verified":
      return html`The ledger released ${amountHtml(escrow.released_stroops)} of ${amount} to the
      merchant by ${at}, ${word}, and left ${amountHtml(escrow.refunded_stroops)} to the agent.`;
    case "ttl_expired_without_delivery_proof":
      return html`The ledger returned the whole ${amount} to the agent at ${at}. The escrow had
      expired without a delivery proof.`;
    case "session_closed_without_delivery_proof":
      return html`The ledger returned the whole ${amount} to the agent at ${at}. The agent had
      closed the session, and no delivery proof was presented before it ended.`;
    case "merchant_cancelled":
      return html`The merchant gave the whole ${amount} back to the agent at ${at}, before the
      escrow expired.`;
  }
};

const style = once(consoleSheet);

/**
 * How to learn that the ledger has the account: from witnesses, where the packet holds a proof of a log, and from a
 * node.
 */
const ledgerSentence = ({ references: { log } }: EvidencePacketRecord): Html =>
  log === null
    ? html`An offline check cannot show that the ledger has the account or that the attestor key was
        the merchant's: add <code>--rpc URL</code> with a node of your choice.`
    : html`That the ledger has the account and that the attestor key was the merchant's is witnessed
        where <code>log_on_ledger</code> of your trust document names the log's witnesses and enough
        of them signed. Otherwise add <code>--rpc URL</code> with a node of your choice.`;

/** What a page shows beside its packet. */
type Around = {
  /** The address under which the caller reached the service. */
  readonly origin: string;
  /** The configured address, which wallet links begin with; null for none. */
  readonly publicUrl: string | null;
  /** The mints whose amounts are shown in their units; those of others are in base units. */
  readonly supportedMints: ReadonlyArray<SupportedMint>;
};

/**
 * A packet as a page to read, print and put beside a dispute, with its digest and a QR code of its
 * address, and for an expired escrow one that runs its refund. It loads nothing and runs nothing; every text of the
 * packet is escaped.
 */
export const evidencePage = (
  packet: EvidencePacketRecord,
  { origin, publicUrl, supportedMints }: Around,
): StaticPage => {
  const { escrow_pda: pda, mint } = packet.data.escrow;
  const amountOf = amountsIn(supportedMints);
  const amountHtml: AmountHtml = (units) => amountOf(units, mint);
  const address = `${origin}/v1/evidence/${pda}`;
  const signed =
    packet.signature.status === "signed"
      ? "signed by the service"
      : "which the service has not signed";
  const body = html`<main class="reading packet">
    <div class="beside">
      <div>
        <h1>Evidence packet</h1>
        <p class="lead">${usedHtml(packet, amountHtml)}${evidenceSummary(packet, amountHtml)}</p>
        <p class="whole"><code>${sentence(address)}</code></p>
        <p class="whole">SHA-256 of its data: ${code(packet.signature.digest_sha256)}</p>
        <p class="screen">
          <a href="${sentence(`${address}?download=json`)}">Download the packet (JSON)</a>
        </p>
      </div>
      ${qrCode(address, "QR code of the packet's address")}
    </div>
    ${notice(
      "plain",
      html`<strong>What this says, and what it does not.</strong> It states what the merchant's
        attestor asserted and what the ledger did with the payment. It does not say that anything
        was delivered. This page is a rendering. The evidence is the packet at the address above,
        ${signed}.`,
    )}
    ${refundSection(packet, publicUrl, amountHtml)} ${evidenceSections(packet, amountHtml)}
    <section>
      <h2>How to check it</h2>
      <ol>
        <li>
          Fetch the packet from the address above, and compare its digest with the one printed here.
        </li>
        <li>
          Verify it under a trust document that you obtained beforehand, from someone you trust:
          <code>${projectCommand("cli verify packet.json --trust trust.json")}</code>
        </li>
        <li>${ledgerSentence(packet)}</li>
      </ol>
    </section>
  </main>`;
  return staticPage({ title: html`Evidence packet ${pda}`.text, style: style(), body: body.text });
};
