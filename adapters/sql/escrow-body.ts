import { addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { AccountDigests, IndexedEscrow } from "../../core/domain/index/indexed-escrow.ts";
import { escrowIn } from "../../core/protocol/accounts/escrow-account.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";

const { at, length: ACCOUNT_LENGTH } = CUSTODY_ACCOUNTS.Escrow;

/**
 * Where each part of an escrow's body begins: its account's bytes with their fields, its address and its digests. A
 * Pending body ends before `settledHash`.
 */
export const BODY_AT = {
  ...at,
  address: ACCOUNT_LENGTH,
  pendingHash: ACCOUNT_LENGTH + 32,
  settledHash: ACCOUNT_LENGTH + 64,
} as const;
const SETTLED_LENGTH = ACCOUNT_LENGTH + 96;

/** One body. Views of its parts are made once, since making one takes longer than copying it. */
const scratch = new Uint8Array(SETTLED_LENGTH);
const pendingBody = scratch.subarray(0, BODY_AT.settledHash);
const scratchAccount = scratch.subarray(0, ACCOUNT_LENGTH);
const scratchAddress = scratch.subarray(BODY_AT.address, BODY_AT.pendingHash);
/** The address in the body that was encoded last. */
export const encodedAddress: Uint8Array = scratchAddress;

/** The body of an escrow. It is valid until the next call, which writes into the same bytes. */
export const encodeBody = ({
  account,
  address,
  pendingHash,
  settledHash,
}: Omit<IndexedEscrow, "escrow">): Uint8Array => {
  scratch.set(account);
  scratch.set(addressToBytes(address), BODY_AT.address);
  scratch.set(pendingHash, BODY_AT.pendingHash);
  if (settledHash === null) return pendingBody;
  scratch.set(settledHash, BODY_AT.settledHash);
  return scratch;
};

/** The escrow of a body. */
export const decodeBody = (body: Uint8Array): Escrow => {
  scratch.set(body);
  return escrowIn(addressFromBytes(scratchAddress), scratchAccount);
};

/** Whether a body is that of a settled escrow. */
export const isSettledBody = (body: Uint8Array): boolean => body.length === SETTLED_LENGTH;

/** The digests of a body's account: parts of its bytes. */
export const digestsIn = (body: Uint8Array): AccountDigests => ({
  pendingHash: body.subarray(BODY_AT.pendingHash, BODY_AT.settledHash),
  settledHash: isSettledBody(body) ? body.subarray(BODY_AT.settledHash) : null,
});
