import { type Address, addressToBytes } from "../../domain/address.ts";
import { FAST_PARTS } from "../../domain/encoding/fast/fast-parts.ts";
import { isSmallOrder } from "../crypto/small-order.ts";

/**
 * Whether an address is a point of small order, so that nobody can ever sign for it: no signature verifies under it, and no
 * program derives a point. The System program's address is one of these.
 */
export const isSmallOrderAddress = (address: Address): boolean =>
  isSmallOrder(addressToBytes(address));

/**
 * Whether an address is no point of the curve, so that no key signs for it: only a program that derives it does, in a call of its
 * own, as a multisig does for its vault.
 */
export const isOffCurve = (address: Address): boolean =>
  !FAST_PARTS.isEdwardsPoint(addressToBytes(address));
