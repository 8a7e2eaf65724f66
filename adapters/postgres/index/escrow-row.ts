import { addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import { escrowIn } from "../../../core/protocol/accounts/escrow-account.ts";
import { CUSTODY_ACCOUNTS } from "../../../core/protocol/generated/custody.ts";
import { columnsOf, type Values } from "../queries.ts";
import { stateNumber } from "../../sql/index-rows.ts";

const { at: AT } = CUSTODY_ACCOUNTS.Escrow;

/** What a row of an escrow binds, in the order of `escrowValues`. All but `account` repeat what it is searched by. */
export const ESCROW_COLUMNS = columnsOf({
  created_seq: "INT8",
  settled_seq: "INT8",
  expires_at: "INT8",
  delivery_seconds: "INT8",
  state: "INT2",
  address: "BYTEA",
  agent_owner: "BYTEA",
  merchant: "BYTEA",
  pending_hash: "BYTEA",
  settled_hash: "BYTEA",
  account: "BYTEA",
});

/** The columns' values of an escrow. */
export const escrowValues = (row: Omit<IndexedEscrow, "escrow">): Values => {
  const { account, state } = row;
  const fields = fieldsOf(account);
  const isDelivered = state === "Fulfilled" || state === "PartiallyFulfilled";
  return [
    row.createdSeq,
    row.settledSeq,
    fields.i64(AT.expiresAt),
    isDelivered ? fields.i64(AT.settledAt) - fields.i64(AT.createdAt) : null,
    stateNumber(state),
    addressToBytes(row.address),
    account.subarray(AT.agentOwner, AT.agentOwner + 32),
    account.subarray(AT.merchant, AT.merchant + 32),
    row.pendingHash,
    row.settledHash,
    account,
  ];
};

/** What the client reads of a row. */
export type EscrowRow = { readonly address: Uint8Array; readonly account: Uint8Array };

/** The escrow of a row. */
export const escrowOf = ({ address, account }: EscrowRow): Escrow =>
  escrowIn(addressFromBytes(address), account);
