import { type Address, addressToBytes, recentAddress, ZERO_ADDRESS } from "../../domain/address.ts";
import { encodeBase64, decodeBase64 } from "../../domain/encoding/base64.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { ESCROW_STATES, type Escrow, SETTLED_BY } from "../../domain/escrow/escrow.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import { sha256 } from "../../domain/sha256.ts";
import { associatedToken, escrowSeeds } from "../addresses/addresses.ts";
import { digestAt, findProgramDerivedAddress } from "../addresses/program-derived-address.ts";
import { type ByteFields, fieldsOf, fieldWriter } from "./byte-fields.ts";
import {
  CUSTODY_ACCOUNTS,
  CUSTODY_CONSTANTS,
  ESCROW_CHANGED_FIELDS,
} from "../generated/custody.ts";
import { contradiction, type EscrowOutline } from "./escrow-outline.ts";

const { at: AT, discriminator, length } = CUSTODY_ACCOUNTS.Escrow;

/** First eight bytes of every escrow account. */
export const ESCROW_DISCRIMINATOR = Uint8Array.from(discriminator);

/** Every escrow account has exactly this many bytes; an archived one has fewer. */
export const ESCROW_ACCOUNT_LENGTH = length;

/** The account bytes that an escrow had right after its creation, from those it has in any state. */
export const pendingEscrowBytes = (data: Uint8Array): Uint8Array => {
  const bytes = data.slice();
  for (const { at, length } of ESCROW_CHANGED_FIELDS) bytes.fill(0, at, at + length);
  return bytes;
};

/**
 * What a signature names of an escrow: the SHA-256 of its bytes right after its creation, from those it has in any
 * state.
 */
export const termsIn = (data: Uint8Array): Hash32 =>
  hash32FromBytes(sha256(pendingEscrowBytes(data)));

const outlineOf = (
  address: Address,
  fields: ByteFields,
  { state, settledBy }: Pick<EscrowOutline, "state" | "settledBy">,
): EscrowOutline => {
  const isAttested =
    !fields.isZero(AT.proofHash, 32) ||
    !fields.isZero(AT.attestedAt, AT.createdSeq - AT.attestedAt);
  const settledAt = fields.i64(AT.settledAt);
  const settledSeq = fields.u64(AT.settledSeq);
  const closesAt = fields.i64(AT.closesAt);
  return {
    address,
    state,
    isSession: !fields.isZero(AT.sessionKey, 32),
    amount: fields.u64(AT.amount),
    released: fields.u64(AT.released),
    deliveries: fields.u32(AT.deliveries),
    createdAt: fields.i64(AT.createdAt),
    expiresAt: fields.i64(AT.expiresAt),
    closesAt: closesAt === 0n ? null : closesAt,
    settledBy,
    settledAt: settledAt === 0n ? null : settledAt,
    attestedAt: isAttested ? fields.i64(AT.attestedAt) : null,
    createdSeq: fields.u64(AT.createdSeq),
    settledSeq: settledSeq === 0n ? null : settledSeq,
  };
};

/** The seeds of an account's address, shared by all calls: views of each account take longer than their hash. */
const [seedAgent, seedTask] = [new Uint8Array(32), new Uint8Array(32)];
const seeds = escrowSeeds(seedAgent, seedTask);
const seedsIn = (data: Uint8Array): ReadonlyArray<Uint8Array> => {
  for (let i = 0; i < 32; i++) {
    seedAgent[i] = data[AT.agentOwner + i] ?? 0;
    seedTask[i] = data[AT.taskHash + i] ?? 0;
  }
  return seeds;
};

/**
 * The escrow that account bytes hold by themselves: length, discriminator, enum, times and amounts are
 * checked, its owner and its address are not.
 */
const checkFields = (address: Address, data: LedgerAccount["data"]): Decoded<EscrowOutline> => {
  if (data.length !== ESCROW_ACCOUNT_LENGTH) return { fault: "wrong_length" };
  const fields = fieldsOf(data);
  if (!fields.isAt(0, ESCROW_DISCRIMINATOR)) return { fault: "wrong_discriminator" };
  if (fields.u8(AT.version) !== CUSTODY_CONSTANTS.ACCOUNT_VERSION)
    return { fault: "unknown_version" };
  const state = ESCROW_STATES[fields.u8(AT.state)];
  const settledBy = SETTLED_BY[fields.u8(AT.settledBy)];
  if (state === undefined || settledBy === undefined) return { fault: "unknown_enum_value" };
  if (!fields.isZero(AT.reserved, AT.closesAt - AT.reserved))
    return { fault: "reserved_bytes_set" };
  const outline = outlineOf(address, fields, { state, settledBy });
  const fault = contradiction(outline, !fields.isZero(AT.attestor, 32));
  return fault === undefined ? { value: outline } : { fault };
};

/**
 * The outline of the escrow that account bytes hold, or why they hold none: owner, length, discriminator, enum, times,
 * amounts and the address that its own fields derive are checked. For accounts of which the log's root proves that the
 * custody program wrote these bytes: it writes canonical bumps only, and searching for both takes two thirds of what a
 * scan costs. See docs/reading.md.
 */
export const checkEscrowAccount = (
  { address, owner, data }: Pick<LedgerAccount, "address" | "owner" | "data">,
  deployment: Deployment,
): Decoded<EscrowOutline> => {
  if (owner !== deployment.custodyProgram) return { fault: "wrong_owner" };
  const checked = checkFields(address, data);
  if ("fault" in checked) return checked;
  const derived = digestAt(owner, seedsIn(data), data[AT.bump] ?? 0);
  return fieldsOf(derived).isAt(0, addressToBytes(address))
    ? checked
    : { fault: "address_not_derived" };
};

/** One account's bytes: views of these are made once, since making one takes longer than reading a field. */
const scratch = new Uint8Array(ESCROW_ACCOUNT_LENGTH);
const view = new DataView(scratch.buffer);
const [scratchTask, scratchProof, scratchSignature] = [
  scratch.subarray(AT.taskHash, AT.taskHash + 32),
  scratch.subarray(AT.proofHash, AT.proofHash + 32),
  scratch.subarray(AT.attestationSignature, AT.attestationSignature + 64),
];

/** The escrow in account bytes that `checkEscrowAccount` takes; pages read each of their rows by it. */
export const escrowIn = (address: Address, data: Uint8Array): Escrow => {
  scratch.set(data);
  const state = ESCROW_STATES[scratch[AT.state] ?? -1];
  const settledBy = SETTLED_BY[scratch[AT.settledBy] ?? -1];
  if (state === undefined || settledBy === undefined)
    throw new Error("an account of another state is no escrow");
  const isSettled = state !== "Pending";
  const released = view.getBigUint64(AT.released, true);
  const closesAt = view.getBigInt64(AT.closesAt, true);
  const sessionKey = recentAddress(scratch, AT.sessionKey);
  return {
    address,
    state,
    amount: view.getBigUint64(AT.amount, true),
    released,
    deliveries: view.getUint32(AT.deliveries, true),
    createdAt: view.getBigInt64(AT.createdAt, true),
    expiresAt: view.getBigInt64(AT.expiresAt, true),
    closesAt: closesAt === 0n ? null : closesAt,
    settledBy,
    settledAt: isSettled ? view.getBigInt64(AT.settledAt, true) : null,
    createdSeq: view.getBigUint64(AT.createdSeq, true),
    settledSeq: isSettled ? view.getBigUint64(AT.settledSeq, true) : null,
    bump: scratch[AT.bump] ?? 0,
    vaultBump: scratch[AT.vaultBump] ?? 0,
    agentOwner: recentAddress(scratch, AT.agentOwner),
    merchant: recentAddress(scratch, AT.merchant),
    mint: recentAddress(scratch, AT.mint),
    rentPayer: recentAddress(scratch, AT.rentPayer),
    taskHash: hash32FromBytes(scratchTask),
    attestor: recentAddress(scratch, AT.attestor),
    sessionKey: sessionKey === ZERO_ADDRESS ? null : sessionKey,
    attestation:
      released > 0n
        ? {
            proofHash: hash32FromBytes(scratchProof),
            attestedAt: view.getBigInt64(AT.attestedAt, true),
            signature: encodeBase64(scratchSignature),
          }
        : null,
  };
};

/**
 * The escrow that an account holds, or why it holds none: what `checkEscrowAccount` checks, and that its bump and its
 * vault's are the canonical ones.
 */
export const decodeEscrowAccount = (
  account: Pick<LedgerAccount, "address" | "owner" | "data">,
  deployment: Deployment,
): Decoded<Escrow> => {
  const checked = checkEscrowAccount(account, deployment);
  if ("fault" in checked) return checked;
  const { address, owner, data } = account;
  const escrow = escrowIn(address, data);
  const isCanonical =
    findProgramDerivedAddress(owner, seedsIn(data)).bump === escrow.bump &&
    associatedToken(address, escrow.mint).bump === escrow.vaultBump;
  return isCanonical ? { value: escrow } : { fault: "address_not_derived" };
};

/** The account bytes of an escrow: the inverse of `decodeEscrowAccount`. */
export const encodeEscrowAccount = (escrow: Escrow): Uint8Array => {
  const writer = fieldWriter(ESCROW_ACCOUNT_LENGTH)
    .bytes(ESCROW_DISCRIMINATOR)
    .u8(CUSTODY_CONSTANTS.ACCOUNT_VERSION)
    .u8(escrow.bump)
    .u8(ESCROW_STATES.indexOf(escrow.state))
    .u8(escrow.vaultBump)
    .u32(escrow.deliveries)
    .address(escrow.agentOwner)
    .address(escrow.merchant)
    .address(escrow.mint)
    .address(escrow.rentPayer)
    .hash(escrow.taskHash)
    .u64(escrow.amount)
    .u64(escrow.released)
    .i64(escrow.createdAt)
    .i64(escrow.expiresAt)
    .i64(escrow.settledAt ?? 0n);
  const { attestation, attestor } = escrow;
  if (attestation === null) writer.skip(32).address(attestor).skip(8).skip(64);
  else {
    const signature = decodeBase64(attestation.signature);
    if (signature === undefined) throw new Error("attestation signature is not base64");
    writer
      .hash(attestation.proofHash)
      .address(attestor)
      .i64(attestation.attestedAt)
      .bytes(signature);
  }
  return writer
    .u64(escrow.createdSeq)
    .u64(escrow.settledSeq ?? 0n)
    .address(escrow.sessionKey ?? ZERO_ADDRESS)
    .u8(SETTLED_BY.indexOf(escrow.settledBy))
    .skip(AT.closesAt - AT.reserved)
    .i64(escrow.closesAt ?? 0n)
    .done();
};

/** The same from an escrow: `termsIn` of its account. */
export const termsOf = (escrow: Escrow): Hash32 =>
  // The attestation is no part of them, and may not be signed yet.
  termsIn(encodeEscrowAccount({ ...escrow, attestation: null }));
