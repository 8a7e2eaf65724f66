import { escapeHtml } from "../html-text.ts";
import type { SupportedMint } from "../../../../core/domain/supported-mint.ts";
import { once } from "../../server/once.ts";
import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";
import { readBeside, type StaticPage, staticPage } from "../static-page.ts";
import { amountIn } from "./amount-html.ts";
import { evidenceSections } from "./evidence-sections.ts";
import { evidenceSummary } from "./evidence-summary.ts";
import { qrCodeSvg } from "./qr-code.ts";
import { refundSection } from "./refund-section.ts";

const style = once(() => readBeside(import.meta.url, "evidence.css"));

/** How to learn that the ledger has the account: from witnesses, where the packet holds a proof of a log, and from a node. */
const ledgerSentence = ({ references: { log } }: EvidencePacketRecord): string =>
  log === null
    ? "An offline check cannot show that the ledger has the account or that the attestor key was the merchant's: add <code>--rpc URL</code> with a node of your choice."
    : "That the ledger has the account and that the attestor key was the merchant's is witnessed where your trust document names the log's witnesses and enough of them signed. Otherwise add <code>--rpc URL</code> with a node of your choice.";

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
 * address, and for an expired escrow one that runs its refund. It loads nothing and runs nothing; every text of the packet is escaped.
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
    script: "",
    body: `<main>
<header>
<div>
<h1>Evidence packet</h1>
<p class="summary">${evidenceSummary(packet, amountHtml)}</p>
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
