import { type Address, ZERO_ADDRESS } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import {
  isMerchantName,
  type Merchant,
  MERCHANT_STATUSES,
} from "../../domain/merchant/merchant.ts";
import { LAST_UNIX_SECOND } from "../../domain/unix-time.ts";
import { merchantAddress } from "../addresses/addresses.ts";
import { fieldsOf, fieldWriter } from "./byte-fields.ts";
import { ATTESTOR_ACCOUNTS, ATTESTOR_CONSTANTS } from "../generated/attestor.ts";

const { at: AT, discriminator, length } = ATTESTOR_ACCOUNTS.Merchant;

/** First eight bytes of every merchant account. */
export const MERCHANT_DISCRIMINATOR = Uint8Array.from(discriminator);

/** Every merchant account has exactly this many bytes. */
export const MERCHANT_ACCOUNT_LENGTH = length;

const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Undefined for bytes that are not UTF-8 and for names that the program refuses. A store's texts cannot hold U+0000.
 */
const decodeName = (bytes: Uint8Array): string | undefined => {
  try {
    const name = strictUtf8.decode(bytes);
    return isMerchantName(name) ? name : undefined;
  } catch {
    return undefined;
  }
};

/** The merchant in account bytes that `decodeMerchantAccount` takes. */
export const merchantIn = (address: Address, data: Uint8Array): Merchant => {
  const fields = fieldsOf(data);
  const status = MERCHANT_STATUSES[fields.u8(AT.status)];
  const name = decodeName(fields.bytes(AT.name, fields.u8(AT.nameLen)));
  if (status === undefined || name === undefined)
    throw new Error("an account of another status or name is no merchant");
  const previousAttestor = fields.address(AT.previousAttestor);
  return {
    address,
    bump: fields.u8(AT.bump),
    wallet: fields.address(AT.merchant),
    name,
    status,
    attestor: fields.address(AT.attestor),
    previousAttestor: previousAttestor === ZERO_ADDRESS ? null : previousAttestor,
    attestorSince: fields.i64(AT.attestorSince),
    registeredAt: fields.i64(AT.registeredAt),
    updatedAt: fields.i64(AT.updatedAt),
    reputation: fields.u32(AT.reputation),
    slashes: fields.u32(AT.slashes),
    deliveries: fields.u64(AT.deliveries),
    partialDeliveries: fields.u64(AT.partialDeliveries),
    volume: fields.u64(AT.volume),
    revokedSeq: fields.u64(AT.revokedSeq),
  };
};

/**
 * The merchant that account bytes hold, or why they hold none: owner, length, discriminator, enum,
 * times, name and the address its own wallet derives are all checked.
 * See docs/reading.md.
 */
export const decodeMerchantAccount = (
  account: Pick<LedgerAccount, "address" | "owner" | "data">,
  deployment: Deployment,
): Decoded<Merchant> => {
  const { data } = account;
  if (account.owner !== deployment.attestorProgram) return { fault: "wrong_owner" };
  if (data.length !== MERCHANT_ACCOUNT_LENGTH) return { fault: "wrong_length" };
  const fields = fieldsOf(data);
  if (!fields.isAt(0, MERCHANT_DISCRIMINATOR)) return { fault: "wrong_discriminator" };
  if (fields.u8(AT.version) !== ATTESTOR_CONSTANTS.ACCOUNT_VERSION)
    return { fault: "unknown_version" };
  if (MERCHANT_STATUSES[fields.u8(AT.status)] === undefined) return { fault: "unknown_enum_value" };
  const nameLength = fields.u8(AT.nameLen);
  if (nameLength < 1 || nameLength > 32) return { fault: "malformed_name" };
  if (!fields.isZero(AT.reserved, 4) || !fields.isZero(AT.name + nameLength, 32 - nameLength))
    return { fault: "reserved_bytes_set" };
  if (decodeName(fields.bytes(AT.name, nameLength)) === undefined)
    return { fault: "malformed_name" };
  const merchant = merchantIn(account.address, data);
  const { registeredAt, attestorSince, updatedAt } = merchant;
  if (registeredAt < 0n || attestorSince < registeredAt || updatedAt < attestorSince)
    return { fault: "time_out_of_range" };
  if (updatedAt > LAST_UNIX_SECOND) return { fault: "time_out_of_range" };
  const derived = merchantAddress(deployment, merchant.wallet);
  if (derived.address !== merchant.address || derived.bump !== merchant.bump)
    return { fault: "address_not_derived" };
  return { value: merchant };
};

/** The account bytes of a merchant: the inverse of `decodeMerchantAccount`. */
export const encodeMerchantAccount = (merchant: Merchant): Uint8Array => {
  const name = new TextEncoder().encode(merchant.name);
  return fieldWriter(MERCHANT_ACCOUNT_LENGTH)
    .bytes(MERCHANT_DISCRIMINATOR)
    .u8(ATTESTOR_CONSTANTS.ACCOUNT_VERSION)
    .u8(merchant.bump)
    .u8(MERCHANT_STATUSES.indexOf(merchant.status))
    .u8(name.length)
    .skip(4)
    .address(merchant.wallet)
    .address(merchant.attestor)
    .address(merchant.previousAttestor ?? ZERO_ADDRESS)
    .i64(merchant.attestorSince)
    .bytes(name)
    .skip(32 - name.length)
    .i64(merchant.registeredAt)
    .i64(merchant.updatedAt)
    .u32(merchant.reputation)
    .u32(merchant.slashes)
    .u64(merchant.deliveries)
    .u64(merchant.partialDeliveries)
    .u64(merchant.volume)
    .u64(merchant.revokedSeq)
    .done();
};
