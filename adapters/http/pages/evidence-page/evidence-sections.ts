import { escapeForeign, escapeHtml } from "../html-text.ts";
import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";
import type { AmountHtml } from "./amount-html.ts";
import { timeHtml } from "./evidence-summary.ts";

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
      ["Created", when(escrow.created_at)],
      ["Expires", when(escrow.expires_at)],
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
export const evidenceSections = (packet: EvidencePacketRecord, amountHtml: AmountHtml): string =>
  [decision, claim, parties, seal, references]
    .map((section) => section(packet, amountHtml))
    .join("\n");
