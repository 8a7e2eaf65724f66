import { projectCommand } from "../../../../core/domain/project-command.ts";
import type { EvidencePacketRecord } from "../../evidence/evidence-contract.ts";

type Row = readonly [label: string, text: string | null];

/**
 * Rows as a list. All values are addresses, hashes, numbers, times or fixed words, which Markdown shows as they are.
 */
const list = (rows: ReadonlyArray<Row>): string =>
  rows.map(([label, text]) => `- ${label}: ${text === null ? "none" : `\`${text}\``}`).join("\n");

/** What a session has beside a single payment. */
const sessionRows = ({ escrow }: EvidencePacketRecord["data"]): ReadonlyArray<Row> => {
  if (escrow.session_key === null) return [];
  const used = `${escrow.released_stroops} of ${escrow.amount_stroops} used`;
  return [
    [escrow.state === "Pending" ? "open session" : "closed", used],
    ["deliveries attested", String(escrow.deliveries)],
    ["session key", escrow.session_key],
    ["closed by its agent, ends", escrow.closes_at],
  ];
};

/**
 * A packet in Markdown, with amounts in base units and how to check it. Texts that someone chose, such as names, are
 * left out.
 */
export const evidenceMarkdown = (
  { data, signature }: EvidencePacketRecord,
  origin: string,
): string => {
  const { escrow, settlement_decision: decision, delivery_claim: claim, network } = data;
  const address = `${origin}/v1/evidence/${escrow.escrow_pda}`;
  return `# Evidence packet ${escrow.escrow_pda}

It states what the merchant's attestor asserted and what the ledger did with the payment. It does not say that anything was delivered.
This text is a rendering. The evidence is the packet: <${address}?download=json>

## What the ledger did

${list([
  ["decision", decision.status],
  ["reason", decision.reason],
  ["escrowed, in base units", escrow.amount_stroops],
  ["to the merchant", escrow.released_stroops],
  ["back to the agent", escrow.refunded_stroops],
  ...sessionRows(data),
  ["created", escrow.created_at],
  ["expires", escrow.expires_at],
  ["settled", decision.settled_at],
  ["settled by", escrow.settled_by],
])}

## Who and what

${list([
  ["agent", escrow.agent_owner],
  ["merchant", escrow.merchant],
  ["mint", escrow.mint],
  ["task hash", escrow.task_hash],
  ["genesis hash", network.genesis_hash],
  ["custody program", network.custody_program],
])}

## What the attestor asserted

${list([
  ["proof hash", claim.proof_hash],
  ["attestor", claim.attestor],
  ["signed at", claim.attested_at],
])}

## How to check it

${list([
  ["SHA-256 of the data", signature.digest_sha256],
  ["status", signature.status],
  ["key id", signature.key_id],
])}

Verify the packet under a trust document that you obtained beforehand: \`${projectCommand("cli verify packet.json --trust trust.json")}\`
`;
};
