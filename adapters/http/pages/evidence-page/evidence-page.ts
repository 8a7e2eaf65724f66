import { formatUnits } from "../../../../core/domain/amount.ts";
import { listedMint, type SupportedMint } from "../../../../core/domain/supported-mint.ts";
import { refundUrl, solanaPayLink } from "../../actions/action-contract.ts";
import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";
import { once } from "../../server/once.ts";
import { escapeForeign, escapeHtml } from "../shell/escape.ts";
import { qrCodeSvg } from "../shell/qr-code.ts";
import { readBeside, type StaticPage, staticPage } from "../static-page.ts";

/** Base units, a decimal text, as HTML. */
type AmountHtml = (units: string) => string;

/**
 * How a page shows amounts of a mint: `12.500000 USDC` where the list has the mint, and `12500000 base units of a
 * token that is not listed` for any other mint, because anybody can make a mint.
 */
const amountIn = (supportedMints: ReadonlyArray<SupportedMint>, mint: string): AmountHtml => {
  const listed = listedMint(supportedMints, mint);
  return listed === undefined
    ? (units) => `${escapeHtml(units)} base units of a token that is not listed`
    : (units) => `${formatUnits(BigInt(units), listed.decimals)} ${escapeHtml(listed.symbol)}`;
};

/**
 * The refund of an expired escrow as a link and a QR code for any wallet; without a public address, why there is none.
 */
const linkHtml = (publicUrl: string | null, escrow: string): string => {
  if (publicUrl === null)
    return `<p>No wallet link can be made: this service has no public address. Its operator sets <code>PUBLIC_URL</code>. Without a link, <code>POST /v1/escrows/${escapeHtml(escrow)}/refund/prepare</code> gives the instructions.</p>`;
  const payLink = solanaPayLink(refundUrl(publicUrl, escrow));
  const link = escapeHtml(payLink);
  return `${qrCodeSvg(payLink, "QR code that runs the refund")}
<p>Scan it with a Solana wallet, or open <a href="${link}">${link}</a></p>`;
};

/** What a refund gives the agent: all that the merchant was not paid. */
const refundShare = (
  { amount_stroops: amount, released_stroops: released }: EvidencePacketRecord["data"]["escrow"],
  amountHtml: AmountHtml,
): string =>
  released === "0"
    ? `The whole ${amountHtml(amount)} goes`
    : `The ${amountHtml((BigInt(amount) - BigInt(released)).toString())} that are left go`;

/** How any wallet refunds an expired escrow, and who gets what; empty for an escrow in another state. */
const refundSection = (
  { data: { escrow, settlement_decision: decision } }: EvidencePacketRecord,
  publicUrl: string | null,
  amountHtml: AmountHtml,
): string =>
  decision.reason !== "ttl_expired_refund_available"
    ? ""
    : `<section class="refund">
<h2>Run the refund</h2>
<p>Anyone may run it. ${refundShare(escrow, amountHtml)} to the agent <code>${escapeHtml(escrow.agent_owner)}</code>, and the vault's rent to <code>${escapeHtml(escrow.rent_payer)}</code>, who paid it. Nothing goes to whoever runs it, who pays the network's fee and, where the agent has no token account, the rent of one.</p>
${linkHtml(publicUrl, escrow.escrow_pda)}
</section>`;

/** `2026-09-01T12:01:35Z` as people read it, `2026-09-01 12:01:35 UTC`, as HTML. */
const timeHtml = (time: string): string => {
  const text = escapeHtml(time);
  return `<time datetime="${text}">${text.replace("T", " ").replace("Z", " UTC")}</time>`;
};

/** How much of a session's money was used, as HTML; empty for a single payment. */
const usedHtml = ({ data: { escrow } }: EvidencePacketRecord, amountHtml: AmountHtml): string => {
  if (escrow.session_key === null) return "";
  const used = `${amountHtml(escrow.released_stroops)} of ${amountHtml(escrow.amount_stroops)} used for ${deliveriesText(escrow.deliveries)}`;
  return escrow.state === "Pending" ? `Open session: ${used} so far. ` : `Closed: ${used}. `;
};

const deliveriesText = (count: number): string =>
  count === 1 ? "1 delivery" : `${count} deliveries`;

/**
 * The packet in one or two sentences, as HTML: what the ledger did, and on whose statement. It never says that
 * something was delivered.
 */
const evidenceSummary = ({ data }: EvidencePacketRecord, amountHtml: AmountHtml): string => {
  const { escrow, settlement_decision: decision, as_of: asOf } = data;
  const at = timeHtml(decision.settled_at ?? asOf?.ledger_time ?? "");
  const amount = amountHtml(escrow.amount_stroops);
  const word = "on a statement signed by the merchant's attestor";
  if (decision.status === "pending" && escrow.released_stroops !== "0") {
    const rest = (BigInt(escrow.amount_stroops) - BigInt(escrow.released_stroops)).toString();
    const next =
      decision.reason === "ttl_expired_refund_available"
        ? "It had ended; anyone may claim the rest for the agent."
        : "It had not ended.";
    return `By ${at} the ledger had paid ${amountHtml(escrow.released_stroops)} of ${amount} to the merchant, ${word}, and held ${amountHtml(rest)} in custody. ${next}`;
  }
  switch (decision.reason) {
    case "awaiting_delivery_proof":
      return `The ledger held ${amount} in custody at ${at}. No delivery proof had been presented, and the escrow had not expired.`;
    case "ttl_expired_refund_available":
      return `The ledger held ${amount} in custody at ${at}. The escrow had expired without a delivery proof; anyone may claim the refund for the agent.`;
    case "merchant_delivery_proof_verified":
      return `The ledger released the whole ${amount} to the merchant at ${at}, ${word}.`;
    case "merchant_partial_delivery_proof_verified":
      return `The ledger released ${amountHtml(escrow.released_stroops)} of ${amount} to the merchant by ${at}, ${word}, and left ${amountHtml(escrow.refunded_stroops)} to the agent.`;
    case "ttl_expired_without_delivery_proof":
      return `The ledger returned the whole ${amount} to the agent at ${at}. The escrow had expired without a delivery proof.`;
    case "session_closed_without_delivery_proof":
      return `The ledger returned the whole ${amount} to the agent at ${at}. The agent had closed the session, and no delivery proof was presented before it ended.`;
    case "merchant_cancelled":
      return `The merchant gave the whole ${amount} back to the agent at ${at}, before the escrow expired.`;
  }
};

type Row = readonly [label: string, html: string];

const code = (text: string | null): string =>
  text === null ? `<span class="none">none</span>` : `<code>${escapeForeign(text)}</code>`;
const when = (time: string | null): string =>
  time === null ? `<span class="none">none</span>` : timeHtml(time);

const table = (title: string, rows: ReadonlyArray<Row>, note = ""): string =>
  `<section><h2>${title}</h2>${note === "" ? "" : `<p class="note">${note}</p>`}<table><tbody>${rows
    .map(([label, html]) => `<tr><th scope="row">${label}</th><td>${html}</td></tr>`)
    .join("")}</tbody></table></section>`;

const decision = ({ data }: EvidencePacketRecord, amountHtml: AmountHtml): string => {
  const { escrow, settlement_decision: it, as_of: asOf } = data;
  return table(
    "What the ledger did",
    [
      ["Decision", `<strong>${it.status}</strong> (${code(it.reason)})`],
      ["Escrow state", escapeHtml(escrow.state)],
      ["Amount escrowed", amountHtml(escrow.amount_stroops)],
      ["To the merchant", amountHtml(escrow.released_stroops)],
      ["Back to the agent", amountHtml(escrow.refunded_stroops)],
      [
        "In base units",
        `${escrow.amount_stroops} escrowed, ${escrow.released_stroops} to the merchant, ${escrow.refunded_stroops} back to the agent`,
      ],
      ...(escrow.session_key === null
        ? []
        : ([["Deliveries attested", String(escrow.deliveries)]] as const)),
      ["Created", when(escrow.created_at)],
      ["Expires", when(escrow.expires_at)],
      ...(escrow.closes_at === null
        ? []
        : ([["Closed by the agent, ends", when(escrow.closes_at)]] as const)),
      ...(escrow.settled_by === null ? [] : ([["Settled by", escrow.settled_by]] as const)),
      ["Settled", when(it.settled_at)],
      ...(asOf === null
        ? []
        : ([["True as of", `${when(asOf.ledger_time)}, slot ${asOf.slot}`]] as const)),
    ],
    "The packet holds base units. Token names and decimals come from this service's own list of tokens.",
  );
};

const parties = ({ data: { escrow, network } }: EvidencePacketRecord): string =>
  table("Who and what", [
    ["Escrow", code(escrow.escrow_pda)],
    ["Agent", code(escrow.agent_owner)],
    ["Merchant", code(escrow.merchant)],
    ["Token mint", code(escrow.mint)],
    ...(escrow.session_key === null ? [] : ([["Session key", code(escrow.session_key)]] as const)),
    ["Task hash", code(escrow.task_hash)],
    ["Ledger", `${escapeForeign(network.cluster)}, genesis ${code(network.genesis_hash)}`],
    ["Custody program", code(network.custody_program)],
  ]);

const claim = ({ data: { delivery_claim: it } }: EvidencePacketRecord): string =>
  table(
    "What the attestor asserted",
    it.attestation === null
      ? [["Delivery proof", `<span class="none">none was presented</span>`]]
      : [
          ["Proof hash", code(it.proof_hash)],
          ["Attestor key", code(it.attestor)],
          ["Signed at", when(it.attested_at)],
          ["Signed message", code(it.attestation.message_hex)],
          ["Attestor's signature", code(it.attestation.signature)],
        ],
    escapeHtml(it.verification),
  );

const seal = ({ signature }: EvidencePacketRecord): string =>
  table("Digest and signature of the packet", [
    ["SHA-256", `<strong>${code(signature.digest_sha256)}</strong>`],
    ["Status", signature.status],
    ["Key id", code(signature.key_id)],
    ["Signature", code(signature.signature)],
  ]);

const references = ({ references: it }: EvidencePacketRecord): string =>
  table(
    "Outside the signed data",
    [
      ...it.transactions.map(({ kind, signature, slot }): Row => [
        escapeHtml(kind.replaceAll("_", " ")),
        `slot ${slot}, ${code(signature)}`,
      ]),
      [
        "Merchant now",
        it.merchant === null
          ? `<span class="none">not found</span>`
          : `${escapeForeign(it.merchant.name)}, ${it.merchant.status}, attestor ${code(it.merchant.current_attestor)}`,
      ],
      ...(it.archived === null
        ? []
        : ([["Archived; the ledger keeps the digest", code(it.archived.digest)]] as const)),
      ...(it.log === null
        ? []
        : ([["In the log", `${code(it.log.origin)}, leaf ${it.log.index}`]] as const)),
      ...(it.not_found.length === 0
        ? []
        : ([["Not found", escapeHtml(it.not_found.join(", ").replaceAll("_", " "))]] as const)),
    ],
    "Not signed. It can change or be pruned; look it up on the ledger.",
  );

/** Everything a packet holds, as tables, with amounts as `amountHtml` shows them. All text is escaped. */
const evidenceSections = (packet: EvidencePacketRecord, amountHtml: AmountHtml): string =>
  [decision, claim, parties, seal, references]
    .map((section) => section(packet, amountHtml))
    .join("\n");

const style = once(() => readBeside(import.meta.url, "evidence.css"));

/**
 * How to learn that the ledger has the account: from witnesses, where the packet holds a proof of a log, and from a
 * node.
 */
const ledgerSentence = ({ references: { log } }: EvidencePacketRecord): string =>
  log === null
    ? "An offline check cannot show that the ledger has the account or that the attestor key was the merchant's: add <code>--rpc URL</code> with a node of your choice."
    : "That the ledger has the account and that the attestor key was the merchant's is witnessed where <code>log_on_ledger</code> of your trust document names the log's witnesses and enough of them signed. Otherwise add <code>--rpc URL</code> with a node of your choice.";

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
  const amountHtml = amountIn(supportedMints, mint);
  const address = `${origin}/v1/evidence/${pda}`;
  const link = escapeHtml(address);
  return staticPage({
    title: `Evidence packet ${escapeHtml(pda)}`,
    style: style(),
    body: `<main>
<header>
<div>
<h1>Evidence packet</h1>
<p class="summary">${usedHtml(packet, amountHtml)}${evidenceSummary(packet, amountHtml)}</p>
<p class="address">${link}</p>
<p>SHA-256 of its data: <code>${escapeHtml(packet.signature.digest_sha256)}</code></p>
<p class="screen"><a href="${link}?download=json">Download the packet (JSON)</a></p>
</div>
${qrCodeSvg(address, "QR code of the packet's address")}
</header>
<aside>
<p><strong>What this says, and what it does not.</strong> It states what the merchant's attestor asserted and what the ledger did with the payment. It does not say that anything was delivered.</p>
<p>This page is a rendering. The evidence is the packet at the address above, ${packet.signature.status === "signed" ? "signed by the service" : "which the service has not signed"}.</p>
</aside>
${refundSection(packet, publicUrl, amountHtml)}
${evidenceSections(packet, amountHtml)}
<section>
<h2>How to check it</h2>
<ol>
<li>Fetch the packet from the address above, and compare its digest with the one printed here.</li>
<li>Verify it under a trust document that you obtained beforehand, from someone you trust: <code>bun run cli verify packet.json --trust trust.json</code></li>
<li>${ledgerSentence(packet)}</li>
</ol>
</section>
</main>`,
  });
};
