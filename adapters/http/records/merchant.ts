import { formatUsdc } from "../../../core/domain/amount.ts";
import type { Merchant } from "../../../core/domain/merchant/merchant.ts";
import type { MerchantStats } from "../../../core/domain/merchant/merchant-stats.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import type { RegistryEntry } from "../../../ports/escrow-index.ts";
import type { MerchantRecord, RegistryEntryRecord } from "../schemas/merchant.ts";

/** A merchant as JSON. */
export const merchantRecord = (merchant: Merchant): MerchantRecord => ({
  merchant: merchant.wallet,
  merchant_pda: merchant.address,
  name: merchant.name,
  attestor: merchant.attestor,
  status: merchant.status,
  reputation: merchant.reputation,
  deliveries: Number(merchant.deliveries),
  partial_deliveries: Number(merchant.partialDeliveries),
  volume_stroops: merchant.volume.toString(),
  volume_usdc: formatUsdc(merchant.volume),
  registered_at: formatUnixTime(merchant.registeredAt),
  updated_at: formatUnixTime(merchant.updatedAt),
});

/** Volume is the merchant account's own: anyone can pay himself any amount of a mint of his own making. */
const statsRecord = (stats: MerchantStats, volume: bigint): RegistryEntryRecord["stats"] => ({
  escrows: stats.escrows,
  pending: stats.pending,
  fulfilled: stats.fulfilled,
  partially_fulfilled: stats.partiallyFulfilled,
  refunded: stats.refunded,
  volume_usdc: formatUsdc(volume),
  median_delivery_seconds:
    stats.medianDeliverySeconds === null ? null : Number(stats.medianDeliverySeconds),
});

/** A merchant with its counts as JSON. */
export const registryEntryRecord = ({ merchant, stats }: RegistryEntry): RegistryEntryRecord => ({
  ...merchantRecord(merchant),
  stats: statsRecord(stats, merchant.volume),
});
