import fc from "fast-check";
import {
  isMerchantName,
  type Merchant,
  MERCHANT_STATUSES,
} from "../../core/domain/merchant/merchant.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { LAST_UNIX_SECOND } from "../../core/domain/unix-time.ts";
import { ZERO_ADDRESS } from "../../core/domain/address.ts";
import { merchantAddress } from "../../core/protocol/addresses/addresses.ts";
import { anyCharacter } from "./any-character.ts";
import { anyAddress, anyU64 } from "./ledger-values.ts";

/** Any name a merchant may have: 1 to 32 bytes of UTF-8 without control characters. */
export const anyMerchantName: fc.Arbitrary<string> = fc
  .oneof(
    fc.string({ minLength: 1, maxLength: 32 }),
    fc.string({ minLength: 1, maxLength: 10, unit: anyCharacter }),
  )
  .filter(isMerchantName);

const u32 = fc.oneof(fc.nat({ max: 200 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }));

/** Three times in order: registration, the attestor's, the last change. */
const times = fc
  .tuple(
    fc.bigInt({ min: 0n, max: LAST_UNIX_SECOND }),
    fc.bigInt({ min: 0n, max: 100_000_000n }),
    fc.bigInt({ min: 0n, max: 100_000_000n }),
  )
  .map(([registeredAt, untilAttestor, untilUpdate]) => {
    const attestorSince = smaller(registeredAt + untilAttestor, LAST_UNIX_SECOND);
    const updatedAt = smaller(attestorSince + untilUpdate, LAST_UNIX_SECOND);
    return { registeredAt, attestorSince, updatedAt };
  });

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Any merchant that the attestor program could have left on the ledger, at the address derived from its wallet. */
export const anyMerchant = (deployment: Deployment): fc.Arbitrary<Merchant> =>
  fc
    .record({
      wallet: anyAddress,
      name: anyMerchantName,
      status: fc.constantFrom(...MERCHANT_STATUSES),
      attestor: anyAddress,
      previousAttestor: fc.option(anyAddress.filter((key) => key !== ZERO_ADDRESS)),
      times,
      reputation: u32,
      slashes: u32,
      deliveries: anyU64,
      partialDeliveries: anyU64,
      volume: anyU64,
      revokedSeq: anyU64,
    })
    .map(({ times, ...fields }): Merchant => {
      const { address, bump } = merchantAddress(deployment, fields.wallet);
      return Object.assign({ address, bump }, fields, times);
    });
