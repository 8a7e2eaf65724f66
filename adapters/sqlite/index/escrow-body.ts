import { type Address, addressFromBytes, addressToBytes } from "../../../core/domain/address.ts";
import {
  type Escrow,
  ESCROW_STATES,
  type EscrowState,
} from "../../../core/domain/escrow/escrow.ts";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import type { AccountDigests, IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { RecentlyUsed } from "../../../core/domain/recently-used.ts";
import { CUSTODY_ACCOUNTS } from "../../../core/protocol/generated/custody.ts";

/** Where each field of the account begins. */
const { at: AT } = CUSTODY_ACCOUNTS.Escrow;

/**
 * Where each field of a row's `body` begins: all of an escrow in one column, since reading or binding a column costs
 * more than decoding a field. Numbers are big-endian. A Pending body ends before `settledHash`, a refunded one before
 * `proofHash`.
 */
export const BODY_AT = {
  address: 0,
  agentOwner: 32,
  merchant: 64,
  mint: 96,
  rentPayer: 128,
  attestor: 160,
  taskHash: 192,
  pendingHash: 224,
  createdSeq: 256,
  amount: 264,
  createdAt: 272,
  expiresAt: 280,
  state: 288,
  bump: 289,
  vaultBump: 290,
  settledHash: 291,
  settledSeq: 323,
  released: 331,
  settledAt: 339,
  proofHash: 347,
  attestedAt: 379,
  signature: 387,
} as const;
const [PENDING_LENGTH, REFUNDED_LENGTH, RELEASED_LENGTH] = [
  BODY_AT.settledHash,
  BODY_AT.proofHash,
  BODY_AT.signature + 64,
];

/** The state in a body. @throws Error for bytes that `encodeBody` has not made. */
export const stateIn = (body: Uint8Array): EscrowState => {
  const state = ESCROW_STATES[body[BODY_AT.state] ?? -1];
  if (state === undefined) throw new Error("no body of another state is ever written");
  return state;
};

/** One body, encoded or decoded: asking each small array for its own buffer takes longer than copying it here. */
const scratch = Buffer.from(new ArrayBuffer(RELEASED_LENGTH));
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratch.length);
/** Parts of it that are texts in an escrow. Views made once: `toHex` of one takes half as long as `toString` of a range. */
const partAt = (at: number, length: number): Uint8Array =>
  new Uint8Array(scratch.buffer, scratch.byteOffset + at, length);
const [scratchAddress, scratchTask, scratchProof, scratchSignature] = [
  partAt(BODY_AT.address, 32),
  partAt(BODY_AT.taskHash, 32),
  partAt(BODY_AT.proofHash, 32),
  partAt(BODY_AT.signature, 64),
];

/** Bodies by their length. A view is made once, since making one takes longer than copying a field. */
const [pendingBody, refundedBody, releasedBody] = [
  partAt(0, PENDING_LENGTH),
  partAt(0, REFUNDED_LENGTH),
  partAt(0, RELEASED_LENGTH),
];
/** The address in the body that was encoded last. */
export const encodedAddress: Uint8Array = scratchAddress;

/** Copies bytes of an account. A loop takes half as long as a view of the bytes and its `set`. */
const copy = (account: Uint8Array, from: number, to: number, length: number): void => {
  for (let i = 0; i < length; i++) scratch[to + i] = account[from + i] ?? 0;
};
/** Copies a number, which is little-endian in an account. */
const copyNumber = (account: Uint8Array, from: number, to: number): void => {
  for (let i = 0; i < 8; i++) scratch[to + i] = account[from + 7 - i] ?? 0;
};

/** The body of an escrow's row, cut from its account. It is valid until the next call, which writes into the same bytes. */
export const encodeBody = (row: Omit<IndexedEscrow, "escrow">): Uint8Array => {
  const { account, settledHash } = row;
  scratch.set(addressToBytes(row.address), BODY_AT.address);
  // From the agent's wallet to the rent payer both have the same order.
  copy(account, AT.agentOwner, BODY_AT.agentOwner, AT.taskHash - AT.agentOwner);
  copy(account, AT.attestor, BODY_AT.attestor, 32);
  copy(account, AT.taskHash, BODY_AT.taskHash, 32);
  scratch.set(row.pendingHash, BODY_AT.pendingHash);
  copyNumber(account, AT.createdSeq, BODY_AT.createdSeq);
  copyNumber(account, AT.amount, BODY_AT.amount);
  copyNumber(account, AT.createdAt, BODY_AT.createdAt);
  copyNumber(account, AT.expiresAt, BODY_AT.expiresAt);
  scratch[BODY_AT.state] = account[AT.state] ?? 0;
  scratch[BODY_AT.bump] = account[AT.bump] ?? 0;
  scratch[BODY_AT.vaultBump] = account[AT.vaultBump] ?? 0;
  if (settledHash === null) return pendingBody;
  scratch.set(settledHash, BODY_AT.settledHash);
  copyNumber(account, AT.settledSeq, BODY_AT.settledSeq);
  copyNumber(account, AT.released, BODY_AT.released);
  copyNumber(account, AT.settledAt, BODY_AT.settledAt);
  if (row.state === "Refunded") return refundedBody;
  copy(account, AT.proofHash, BODY_AT.proofHash, 32);
  copyNumber(account, AT.attestedAt, BODY_AT.attestedAt);
  copy(account, AT.attestationSignature, BODY_AT.signature, 64);
  return releasedBody;
};

/** Texts of parties, with their bytes, by the first six of these: a look-up takes a fifth of encoding base58. */
const texts = new RecentlyUsed<number, { readonly text: Address; readonly view: DataView }>(20_000);

/** Whether the 32 bytes of `view` stand in the body. Words, because bytes take four times as long. */
const isAt = (at: number, view: DataView): boolean => {
  for (let i = 0; i < 32; i += 4)
    if (scratchView.getUint32(at + i) !== view.getUint32(i)) return false;
  return true;
};

const textOfParty = (at: number): Address => {
  const key = scratchView.getUint32(at) * 2 ** 16 + scratchView.getUint16(at + 4);
  const known = texts.get(key);
  if (known !== undefined && isAt(at, known.view)) return known.text;
  const bytes = Uint8Array.from(scratch.subarray(at, at + 32));
  const text = addressFromBytes(bytes);
  texts.set(key, { text, view: new DataView(bytes.buffer) });
  return text;
};

const hashOf = (part: Uint8Array): Hash32 => part.toHex() as Hash32;

/** The escrow of a body. */
export const decodeBody = (body: Uint8Array): Escrow => {
  scratch.set(body);
  const isSettled = body.length > PENDING_LENGTH;
  return {
    address: addressFromBytes(scratchAddress),
    bump: scratch[BODY_AT.bump] ?? 0,
    vaultBump: scratch[BODY_AT.vaultBump] ?? 0,
    state: stateIn(scratch),
    agentOwner: textOfParty(BODY_AT.agentOwner),
    merchant: textOfParty(BODY_AT.merchant),
    mint: textOfParty(BODY_AT.mint),
    rentPayer: textOfParty(BODY_AT.rentPayer),
    taskHash: hashOf(scratchTask),
    amount: scratchView.getBigUint64(BODY_AT.amount),
    released: isSettled ? scratchView.getBigUint64(BODY_AT.released) : 0n,
    createdAt: scratchView.getBigInt64(BODY_AT.createdAt),
    expiresAt: scratchView.getBigInt64(BODY_AT.expiresAt),
    settledAt: isSettled ? scratchView.getBigInt64(BODY_AT.settledAt) : null,
    attestor: textOfParty(BODY_AT.attestor),
    attestation:
      body.length > REFUNDED_LENGTH
        ? {
            proofHash: hashOf(scratchProof),
            attestedAt: scratchView.getBigInt64(BODY_AT.attestedAt),
            signature: scratchSignature.toBase64(),
          }
        : null,
    createdSeq: scratchView.getBigUint64(BODY_AT.createdSeq),
    settledSeq: isSettled ? scratchView.getBigUint64(BODY_AT.settledSeq) : null,
  };
};

/** The digests of a body's account: parts of its bytes. */
export const digestsIn = (body: Uint8Array): AccountDigests => {
  const hash = (at: number) => body.subarray(at, at + 32);
  return {
    pendingHash: hash(BODY_AT.pendingHash),
    settledHash: body.length > PENDING_LENGTH ? hash(BODY_AT.settledHash) : null,
  };
};
