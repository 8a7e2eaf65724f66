import type { Address } from "../../domain/address.ts";
import { type Escrow, ESCROW_STATES, type EscrowState } from "../../domain/escrow/escrow.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { sha256 } from "../../domain/sha256.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../generated/custody.ts";
import { fieldsOf } from "./byte-fields.ts";
import { decodeEscrowAccount } from "./escrow-account.ts";

/** What is left of an archived escrow at its address. */
export type ArchivedEscrow = {
  readonly createdSeq: bigint;
  readonly settledSeq: bigint;
  readonly state: Exclude<EscrowState, "Pending">;
  /** SHA-256 of the account's bytes while the escrow was Pending. */
  readonly pendingHash: Hash32;
  /** SHA-256 of the account's bytes when it was archived. */
  readonly lastHash: Hash32;
};

const { at: AT, discriminator, length } = CUSTODY_ACCOUNTS.ArchivedEscrow;

/** The first eight bytes of a tombstone. */
export const ARCHIVED_ESCROW_DISCRIMINATOR = Uint8Array.from(discriminator);

/** Offset of the first byte of a hash. Its values are evenly spread. */
export const ARCHIVED_ESCROW_HASH_AT = AT.lastHash;

/** Every tombstone has exactly this many bytes. */
export const ARCHIVED_ESCROW_LENGTH = length;

/**
 * The tombstone that account bytes hold, or the fault. Its address is not checked. Only custody can write a
 * discriminator into an account that it owns. See docs/protocol.md, "Archiving".
 */
export const decodeArchivedEscrowAccount = (
  { owner, data }: Pick<LedgerAccount, "owner" | "data">,
  deployment: Deployment,
): Decoded<ArchivedEscrow> => {
  if (owner !== deployment.custodyProgram) return { fault: "wrong_owner" };
  if (data.length !== ARCHIVED_ESCROW_LENGTH) return { fault: "wrong_length" };
  const fields = fieldsOf(data);
  if (!fields.isAt(0, ARCHIVED_ESCROW_DISCRIMINATOR)) return { fault: "wrong_discriminator" };
  if (fields.u8(AT.version) !== CUSTODY_CONSTANTS.ACCOUNT_VERSION)
    return { fault: "unknown_version" };
  const state = ESCROW_STATES[fields.u8(AT.state)];
  if (state === undefined) return { fault: "unknown_enum_value" };
  if (!fields.isZero(AT.reserved, AT.pendingHash - AT.reserved))
    return { fault: "reserved_bytes_set" };
  const createdSeq = fields.u64(AT.createdSeq);
  const settledSeq = fields.u64(AT.settledSeq);
  if (state === "Pending" || createdSeq === 0n || settledSeq <= createdSeq)
    return { fault: "fields_contradict_state" };
  return {
    value: {
      createdSeq,
      settledSeq,
      state,
      pendingHash: fields.hash(AT.pendingHash),
      lastHash: fields.hash(AT.lastHash),
    },
  };
};

/** An archived escrow, and the account bytes that it had until then. */
export type LastBytes = { readonly escrow: Escrow; readonly data: Uint8Array };

/**
 * The escrow in bytes that somebody kept; undefined unless their SHA-256 is the tombstone's `last_hash`. Only this
 * digest proves that the ledger had them.
 */
export const believedBytes = (
  address: Address,
  data: Uint8Array,
  { lastHash }: Pick<ArchivedEscrow, "lastHash">,
  deployment: Deployment,
): LastBytes | undefined => {
  if (hash32FromBytes(sha256(data)) !== lastHash) return undefined;
  const decoded = decodeEscrowAccount(
    { address, owner: deployment.custodyProgram, data },
    deployment,
  );
  return "value" in decoded ? { escrow: decoded.value, data } : undefined;
};
