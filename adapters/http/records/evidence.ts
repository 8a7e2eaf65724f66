import type { EvidencePacket } from "../../../core/use-cases/build-evidence.ts";
import type { EvidencePacketRecord } from "../schemas/evidence.ts";

/** An evidence packet as JSON. */
export const evidenceRecord = (packet: EvidencePacket): EvidencePacketRecord => {
  const { merchant, observed } = packet.references;
  return {
    data: packet.data,
    signature: packet.signature,
    references: {
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
    },
  };
};
