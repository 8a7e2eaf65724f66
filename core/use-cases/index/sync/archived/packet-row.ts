import type { Address } from "../../../../domain/address.ts";
import { hash32FromBytes } from "../../../../domain/hash32.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../../../domain/index/indexed-escrow.ts";
import type { Deployment } from "../../../../domain/ledger/deployment.ts";
import { indexedEscrowOf } from "../../../../log/leaf/escrow-rows.ts";
import { believedBytes } from "../../../../protocol/accounts/last-bytes.ts";
import { decodeEscrowAccount } from "../../../../protocol/accounts/escrow-account.ts";
import { parseEvidencePacket } from "../../../../protocol/evidence/evidence-packet.ts";

/** The account that a packet claims an escrow had, and the number of its creation. Nobody has compared it with the ledger. */
export type ClaimedEscrow = {
  readonly address: Address;
  readonly createdSeq: bigint;
  readonly data: Uint8Array;
};

/** The account in a packet, or why there is none that can be compared with the ledger. */
export const claimInPacket = (
  packet: Uint8Array,
  deployment: Deployment,
): { readonly value: ClaimedEscrow } | { readonly fault: string } => {
  const parsed = parseEvidencePacket(packet);
  if ("fault" in parsed) return { fault: `it is no evidence packet: ${parsed.fault}` };
  const { escrowAddress: address, account } = parsed.value;
  const decoded = decodeEscrowAccount(
    { address, owner: deployment.custodyProgram, data: account.data },
    deployment,
  );
  if ("fault" in decoded) return { fault: `its account is no escrow here: ${decoded.fault}` };
  return { value: { address, createdSeq: decoded.value.createdSeq, data: account.data } };
};

/** The row of an unseen escrow by a packet's account, or why that account is not believed: only the ledger's digest decides. */
export const rowOfClaim = (
  row: UnseenEscrow,
  { address, data }: ClaimedEscrow,
  deployment: Deployment,
): { readonly value: IndexedEscrow } | { readonly fault: string } => {
  if (address !== row.address) return { fault: `it is the packet of another escrow, ${address}` };
  const last =
    row.settledHash === null
      ? undefined
      : believedBytes(address, data, { lastHash: hash32FromBytes(row.settledHash) }, deployment);
  const seen = last && indexedEscrowOf(last.escrow, last.data);
  return seen === undefined || seen.createdSeq !== row.createdSeq
    ? { fault: "its account does not have the digest that the ledger keeps of the escrow" }
    : { value: seen };
};
