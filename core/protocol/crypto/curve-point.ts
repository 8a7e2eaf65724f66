import { hexToBytes } from "@noble/hashes/utils.js";
import { type Address, addressFromBytes, addressToBytes } from "../../domain/address.ts";
import { FAST_PARTS } from "../../domain/encoding/fast/fast-parts.ts";

/**
 * The y of every encoding of a point of small order, little-endian without the sign of x: 0, 1, -1, the two of order 8,
 * and 0 and 1 once more as p and p + 1, which curve25519-dalek reads as well.
 */
const SMALL_ORDER_Y: ReadonlyArray<string> = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];

const withSign = (hex: string, sign: 0 | 0x80): Address => {
  const bytes = hexToBytes(hex);
  bytes[31] = (bytes[31] ?? 0) | sign;
  return addressFromBytes(bytes);
};

/** As text: an address has one text only, and looking it up takes less than decoding it. */
const SMALL_ORDER: ReadonlySet<Address> = new Set(
  SMALL_ORDER_Y.flatMap((hex) => [withSign(hex, 0), withSign(hex, 0x80)]),
);

/**
 * Whether an address is a point of small order, so that nobody can ever sign for it: no signature verifies under it,
 * and no program derives a point. The System program's address is one of these.
 */
export const isSmallOrderAddress = (address: Address): boolean => SMALL_ORDER.has(address);

/**
 * Whether an address is no point of the curve, so that no key signs for it: only a program that derives it does, in a
 * call of its own, as a multisig does for its vault.
 */
export const isOffCurve = (address: Address): boolean =>
  !FAST_PARTS.isEdwardsPoint(addressToBytes(address));
