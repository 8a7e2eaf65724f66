import { describe, expect, test } from "bun:test";
import {
  fixCodecSize,
  getAddressCodec,
  getBase16Codec,
  getBytesCodec,
  getI64Codec,
  getStructCodec,
  getU32Codec,
  getU64Codec,
  getU8Codec,
  getUtf8Codec,
} from "@solana/kit";
import fc from "fast-check";
import { ZERO_ADDRESS } from "../../../../core/domain/address.ts";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import { LAST_UNIX_SECOND } from "../../../../core/domain/unix-time.ts";
import {
  decodeMerchantAccount,
  encodeMerchantAccount,
  MERCHANT_ACCOUNT_LENGTH,
} from "../../../../core/protocol/accounts/merchant-account.ts";
import { anyMerchant } from "../../../arbitraries/merchant.ts";
import { deployment, derivedAccountContract, fieldAt } from "./derived-account.ts";

/** The account as docs/protocol.md lists it, field by field, written with another library's codecs. */
const FIELDS = [
  ["discriminator", fixCodecSize(getBase16Codec(), 8)],
  ["version", getU8Codec()],
  ["bump", getU8Codec()],
  ["status", getU8Codec()],
  ["nameLength", getU8Codec()],
  ["reserved", fixCodecSize(getBytesCodec(), 4)],
  ["merchant", getAddressCodec()],
  ["attestor", getAddressCodec()],
  ["previousAttestor", getAddressCodec()],
  ["attestorSince", getI64Codec()],
  ["name", fixCodecSize(getUtf8Codec(), 32)],
  ["registeredAt", getI64Codec()],
  ["updatedAt", getI64Codec()],
  ["reputation", getU32Codec()],
  ["slashes", getU32Codec()],
  ["deliveries", getU64Codec()],
  ["partialDeliveries", getU64Codec()],
  ["volume", getU64Codec()],
  ["revokedSeq", getU64Codec()],
] as const;
const account = getStructCodec(FIELDS);

const byKit = (merchant: Merchant): Uint8Array =>
  new Uint8Array(
    account.encode({
      ...merchant,
      discriminator: "47eb1e28e7152040",
      version: 3,
      status: { Active: 0, Suspended: 1 }[merchant.status],
      nameLength: Buffer.byteLength(merchant.name),
      reserved: new Uint8Array(4),
      merchant: merchant.wallet,
      attestor: merchant.attestor,
      previousAttestor: merchant.previousAttestor ?? ZERO_ADDRESS,
    }),
  );

const decode = (merchant: Merchant, data: Uint8Array) =>
  decodeMerchantAccount(
    { address: merchant.address, owner: deployment.attestorProgram, data },
    deployment,
  );

const sample = (): Merchant => {
  const [merchant] = fc.sample(anyMerchant(deployment), { numRuns: 1, seed: 1 });
  if (merchant === undefined) throw new Error("no sample");
  return { ...merchant, name: "Æther", registeredAt: 10n, attestorSince: 20n, updatedAt: 30n };
};

/** The address binds these. For status, keys, name and counters only the ledger vouches. */
const BOUND = new Set(["discriminator", "version", "bump", "nameLength", "reserved", "merchant"]);

describe("merchant account", () => {
  derivedAccountContract({
    any: anyMerchant(deployment),
    length: MERCHANT_ACCOUNT_LENGTH,
    program: "attestorProgram",
    encode: encodeMerchantAccount,
    decode: decodeMerchantAccount,
    byKit,
    fieldAt: (offset) => fieldAt(FIELDS, offset),
    isFree: (_, field) => !BOUND.has(field),
  });

  // Postgres' text has no U+0000, and SQLite's text functions end at it.
  test("a name is 1 to 32 bytes of strict UTF-8 without U+0000 and with only zeros after it", () => {
    const merchant = sample();
    const named = (bytes: ReadonlyArray<number>, length = bytes.length) => {
      const data = encodeMerchantAccount(merchant).fill(0, 120, 152);
      data.set(bytes, 120);
      return decode(merchant, data.with(11, length));
    };
    const malformed = { fault: "malformed_name" } as const;
    const full = Array.from({ length: 32 }, () => 0x61);
    expect(named(full)).toHaveProperty("value.name", "a".repeat(32));
    expect(named([0x61])).toHaveProperty("value.name", "a");
    expect(named([0xef, 0xbb, 0xbf, 0x61])).toHaveProperty("value.name", "\u{feff}a");
    expect(named([], 0)).toEqual(malformed);
    expect(named(full, 33)).toEqual(malformed);
    expect(named([0x61, 0x00])).toEqual(malformed);
    expect(named([0x00])).toEqual(malformed);
    expect(named([0x61], 3)).toEqual(malformed);
    expect(named([0xff])).toEqual(malformed);
    expect(named([0xc0, 0x80])).toEqual(malformed);
    expect(named([0xed, 0xa0, 0x80])).toEqual(malformed);
    expect(named([0xf4, 0x90, 0x80, 0x80])).toEqual(malformed);
    expect(named([0xe2, 0x82])).toEqual(malformed);
    expect(named([0x61, 0x62], 1)).toEqual({ fault: "reserved_bytes_set" });
  });

  test("times are in order, and within what RFC 3339 can name", () => {
    const merchant = sample();
    const at = (registeredAt: bigint, attestorSince: bigint, updatedAt: bigint) =>
      decode(
        merchant,
        encodeMerchantAccount({ ...merchant, registeredAt, attestorSince, updatedAt }),
      );
    const outOfRange = { fault: "time_out_of_range" } as const;
    expect(at(0n, 0n, 0n)).toHaveProperty("value");
    expect(at(LAST_UNIX_SECOND, LAST_UNIX_SECOND, LAST_UNIX_SECOND)).toHaveProperty("value");
    expect(at(0n, 0n, LAST_UNIX_SECOND + 1n)).toEqual(outOfRange);
    expect(at(-1n, 0n, 0n)).toEqual(outOfRange);
    expect(at(2n, 1n, 3n)).toEqual(outOfRange);
    expect(at(1n, 3n, 2n)).toEqual(outOfRange);
  });

  test("each kind of damage has its own fault", () => {
    const merchant = sample();
    const data = encodeMerchantAccount(merchant);
    const damaged = (offset: number, byte: number) => decode(merchant, data.with(offset, byte));
    expect(damaged(0, 0)).toEqual({ fault: "wrong_discriminator" });
    expect(damaged(8, 0)).toEqual({ fault: "unknown_version" });
    expect(damaged(10, 2)).toEqual({ fault: "unknown_enum_value" });
    expect(damaged(12, 1)).toEqual({ fault: "reserved_bytes_set" });
    expect(damaged(151, 1)).toEqual({ fault: "reserved_bytes_set" });
    expect(damaged(16, (data[16] ?? 0) ^ 1)).toEqual({ fault: "address_not_derived" });
  });
});
