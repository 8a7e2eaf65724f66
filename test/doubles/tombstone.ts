import { type Escrow, ESCROW_STATES } from "../../core/domain/escrow/escrow.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import {
  encodeEscrowAccount,
  pendingEscrowBytes,
} from "../../core/protocol/accounts/escrow-account.ts";
import { accountDiscriminator } from "./discriminator.ts";

/** The 96 bytes that archiving leaves of a settled escrow: docs/protocol.md, "Archiving". */
export const tombstoneOf = (escrow: Escrow): Uint8Array => {
  const last = encodeEscrowAccount(escrow);
  return fieldWriter(96)
    .bytes(accountDiscriminator("ArchivedEscrow"))
    .u64(escrow.createdSeq)
    .u64(escrow.settledSeq ?? 0n)
    .u8(ESCROW_STATES.indexOf(escrow.state))
    .u8(2)
    .skip(6)
    .bytes(sha256(pendingEscrowBytes(last)))
    .bytes(sha256(last))
    .done();
};
