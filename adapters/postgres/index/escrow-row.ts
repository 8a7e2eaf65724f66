import { addressFromBytes } from "../../../core/domain/address.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import { escrowIn } from "../../../core/protocol/accounts/escrow-account.ts";
import { BODY_AT, digestsIn, isSettledBody } from "../../sql/escrow-body.ts";
import { stateOf } from "../../sql/index-rows.ts";
import { columnsOf, type Values } from "../queries.ts";

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

/** The columns' values of an escrow's body. Bytes are parts of it. */
export const escrowValues = (body: Uint8Array): Values => {
  const fields = fieldsOf(body);
  const state = fields.u8(BODY_AT.state);
  const isDelivered = stateOf(state) === "Fulfilled" || stateOf(state) === "PartiallyFulfilled";
  const bytes = (at: number) => body.subarray(at, at + 32);
  const { pendingHash, settledHash } = digestsIn(body);
  return [
    fields.u64(BODY_AT.createdSeq),
    isSettledBody(body) ? fields.u64(BODY_AT.settledSeq) : null,
    fields.i64(BODY_AT.expiresAt),
    isDelivered ? fields.i64(BODY_AT.settledAt) - fields.i64(BODY_AT.createdAt) : null,
    state,
    bytes(BODY_AT.address),
    bytes(BODY_AT.agentOwner),
    bytes(BODY_AT.merchant),
    pendingHash,
    settledHash,
    body.subarray(0, BODY_AT.address),
  ];
};

/** What the client reads of a row. */
export type EscrowRow = { readonly address: Uint8Array; readonly account: Uint8Array };

/** The escrow of a row. */
export const escrowOf = ({ address, account }: EscrowRow): Escrow =>
  escrowIn(addressFromBytes(address), account);
