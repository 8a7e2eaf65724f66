import { type Address, addressToBytes } from "../../domain/address.ts";
import { FAST_PARTS } from "../../domain/encoding/fast/fast-parts.ts";
import { isSmallOrder } from "../crypto/small-order.ts";

/**
 * Whether nobody can ever sign for an address: no signature verifies under it, and no program derives it, since it is a point. The
 * System program's address is one of these.
 */
export const isNobodys = (address: Address): boolean => isSmallOrder(addressToBytes(address));

/**
 * Whether an address is no point of the curve, so that no key signs for it: only a program that derives it does, in a call of its
 * own, as a multisig does for its vault.
 */
export const isDerived = (address: Address): boolean =>
  !FAST_PARTS.isEdwardsPoint(addressToBytes(address));
