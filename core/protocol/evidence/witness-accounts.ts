import type { Address } from "../../domain/address.ts";
import { merchantAddress } from "../addresses/addresses.ts";
import { decodeEscrowAccount } from "../accounts/escrow-account.ts";
import { parseEvidencePacket } from "./evidence-packet.ts";

/**
 * The accounts that a packet must be held against on the ledger, null when the packet is so wrong that it
 * names none: then no node needs to be asked.
 */
export const witnessAccounts = (
  packet: string | Uint8Array,
): { readonly escrow: Address; readonly merchant: Address } | null => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) return null;
  const { network, account, escrowAddress } = parsed.value;
  const decoded = decodeEscrowAccount({ address: escrowAddress, ...account }, network);
  if ("fault" in decoded) return null;
  return {
    escrow: escrowAddress,
    merchant: merchantAddress(network, decoded.value.merchant).address,
  };
};
