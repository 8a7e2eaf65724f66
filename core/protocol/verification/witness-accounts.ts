import type { Address } from "../../domain/address.ts";
import {
  custodyConfigAddress,
  merchantAddress,
  programDataAddress,
} from "../addresses/addresses.ts";
import { decodeEscrowAccount } from "../accounts/escrow-account.ts";
import { parseEvidencePacket } from "../evidence/evidence-packet.ts";

/**
 * The ledger accounts that a packet is compared with, null when the packet is too malformed to
 * name any. No node needs to be asked then.
 */
export const witnessAccounts = (
  packet: string | Uint8Array,
): {
  readonly escrow: Address;
  readonly merchant: Address;
  readonly custodyConfig: Address;
  /** Where the programs' bytes are: custody's, then the attestor program's. */
  readonly programData: readonly [Address, Address];
} | null => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) return null;
  const { network, account, escrowAddress } = parsed.value;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  if ("fault" in decoded) return null;
  return {
    escrow: escrowAddress,
    merchant: merchantAddress(network, decoded.value.merchant).address,
    custodyConfig: custodyConfigAddress(network).address,
    programData: [
      programDataAddress(network.custodyProgram),
      programDataAddress(network.attestorProgram),
    ],
  };
};
