import type { EvidencePacket } from "../../../core/use-cases/evidence/settled-evidence.ts";
import type { EvidencePacketRecord } from "../schemas/evidence.ts";

/** An evidence packet as JSON. */
export const evidenceRecord = (packet: EvidencePacket): EvidencePacketRecord => {
  const { transactions, merchant, observed, notFound } = packet.references;
  return {
    data: packet.data,
    signature: packet.signature,
    references: {
      transactions: transactions.map(({ signature, slot, kind }) => ({
        signature,
        slot: Number(slot),
        kind,
      })),
      merchant:
        merchant === null
          ? null
          : {
              name: merchant.name,
              status: merchant.status,
              current_attestor: merchant.currentAttestor,
            },
      observed:
        observed === null ? null : { slot: Number(observed.slot), commitment: observed.commitment },
      not_found: [...notFound],
    },
  };
};
