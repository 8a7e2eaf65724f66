import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";
import { html, type Html, type Inner, sentence } from "../shell/html.ts";
import { type Fact, facts, time } from "../shell/parts.ts";

/** Base units, a decimal text, as HTML. */
export type AmountHtml = (units: string) => Html;

/** A value as the packet writes it, or that there is none. */
export const code = (text: string | null): Html =>
  text === null ? html`<span class="none">none</span>` : html`<code>${sentence(text)}</code>`;

/** A part of the packet with its title, and a sentence under that. */
const part = (title: string, lines: ReadonlyArray<Fact>, note: Inner = null): Html =>
  html`<section>
    <h2>${title}</h2>
    ${note !== null && html`<p class="note">${note}</p>`}${facts(lines)}
  </section>`;

const decision = ({ data }: EvidencePacketRecord, amountHtml: AmountHtml): Html => {
  const { escrow, settlement_decision: it, as_of: asOf } = data;
  return part(
    "What the ledger did",
    [
      ["Decision", html`<strong>${it.status}</strong> (${code(it.reason)})`],
      ["Escrow state", escrow.state],
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
      ["Created", time(escrow.created_at)],
      ["Expires", time(escrow.expires_at)],
      ...(escrow.closes_at === null
        ? []
        : ([["Closed by the agent, ends", time(escrow.closes_at)]] as const)),
      ...(escrow.settled_by === null ? [] : ([["Settled by", escrow.settled_by]] as const)),
      ["Settled", time(it.settled_at)],
      ...(asOf === null
        ? []
        : ([["True as of", html`${time(asOf.ledger_time)}, slot ${asOf.slot}`]] as const)),
    ],
    "The packet holds base units. Token names and decimals come from this service's own list of tokens.",
  );
};

const parties = ({ data: { escrow, network } }: EvidencePacketRecord): Html =>
  part("Who and what", [
    ["Escrow", code(escrow.escrow_pda)],
    ["Agent", code(escrow.agent_owner)],
    ["Merchant", code(escrow.merchant)],
    ["Token mint", code(escrow.mint)],
    ...(escrow.session_key === null ? [] : ([["Session key", code(escrow.session_key)]] as const)),
    ["Task hash", code(escrow.task_hash)],
    ["Ledger", html`${network.cluster}, genesis ${code(network.genesis_hash)}`],
    ["Custody program", code(network.custody_program)],
  ]);

const claim = ({ data: { delivery_claim: it } }: EvidencePacketRecord): Html =>
  part(
    "What the attestor asserted",
    it.attestation === null
      ? [["Delivery proof", html`<span class="none">none was presented</span>`]]
      : [
          ["Proof hash", code(it.proof_hash)],
          ["Attestor key", code(it.attestor)],
          ["Signed at", time(it.attested_at)],
          ["Signed message", code(it.attestation.message_hex)],
          ["Attestor's signature", code(it.attestation.signature)],
        ],
    sentence(it.verification),
  );

const seal = ({ signature }: EvidencePacketRecord): Html =>
  part("Digest and signature of the packet", [
    ["SHA-256", html`<strong>${code(signature.digest_sha256)}</strong>`],
    ["Status", signature.status],
    ["Key id", code(signature.key_id)],
    ["Signature", code(signature.signature)],
  ]);

const references = ({ references: it }: EvidencePacketRecord): Html =>
  part(
    "Outside the signed data",
    [
      ...it.transactions.map(({ kind, signature, slot }): Fact => [
        kind.replaceAll("_", " "),
        html`slot ${slot}, ${code(signature)}`,
      ]),
      [
        "Merchant now",
        it.merchant === null
          ? html`<span class="none">not found</span>`
          : html`${it.merchant.name}, ${it.merchant.status}, attestor
            ${code(it.merchant.current_attestor)}`,
      ],
      ...(it.archived === null
        ? []
        : ([["Archived; the ledger keeps the digest", code(it.archived.digest)]] as const)),
      ...(it.log === null
        ? []
        : ([["In the log", html`${code(it.log.origin)}, leaf ${it.log.index}`]] as const)),
      ...(it.not_found.length === 0
        ? []
        : ([["Not found", it.not_found.join(", ").replaceAll("_", " ")]] as const)),
    ],
    "Not signed. It can change or be pruned; look it up on the ledger.",
  );

/** Everything a packet holds, as tables, with amounts as `amountHtml` shows them. All text is escaped. */
export const evidenceSections = (
  packet: EvidencePacketRecord,
  amountHtml: AmountHtml,
): ReadonlyArray<Html> =>
  [decision, claim, parties, seal, references].map((section) => section(packet, amountHtml));
