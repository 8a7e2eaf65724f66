import type { Address } from "../../core/domain/address.ts";
import { type Escrow, ESCROW_STATES } from "../../core/domain/escrow/escrow.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import {
  encodeEscrowAccount,
  pendingEscrowBytes,
} from "../../core/protocol/accounts/escrow-account.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../../core/protocol/generated/custody.ts";
import { accountOf } from "./accounts.ts";

/** The 96 bytes that custody leaves of a settled escrow; see docs/protocol.md, "Archiving". */
export const tombstoneOf = (escrow: Escrow): Uint8Array => {
  const last = encodeEscrowAccount(escrow);
  return fieldWriter(96)
    .bytes(Uint8Array.from(CUSTODY_ACCOUNTS.ArchivedEscrow.discriminator))
    .u64(escrow.createdSeq)
    .u64(escrow.settledSeq ?? 0n)
    .u8(ESCROW_STATES.indexOf(escrow.state))
    .u8(CUSTODY_CONSTANTS.ACCOUNT_VERSION)
    .skip(6)
    .bytes(sha256(pendingEscrowBytes(last)))
    .bytes(sha256(last))
    .done();
};

/** The account at the address of an archived escrow. */
export const tombstoneAccount = (escrow: Escrow, custodyProgram: Address): LedgerAccount =>
  accountOf(escrow.address, custodyProgram, tombstoneOf(escrow));
