import { type Static, Type } from "@sinclair/typebox";
import {
  type Merchant as DomainMerchant,
  type MerchantStats as DomainMerchantStats,
  merchantStats,
} from "../../../core/domain/merchant/merchant.ts";
import { type SupportedMint, usdcOf } from "../../../core/domain/supported-mint.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
import type { RegistryEntry as Entry } from "../../../ports/index/index-reader.ts";
import {
  Address,
  Count,
  MerchantStatus,
  nullable,
  record,
  Stroops,
  Time,
  Usdc,
} from "../openapi/values.ts";
import { sampleInstance } from "../openapi/sample-ledger.ts";
import { sampleEscrow, sampleMerchant } from "../openapi/sample-values.ts";

const VolumeUsdc = nullable(Usdc("The merchant's `volume_stroops` in USDC."), {
  description:
    "Null unless this service lists the registry's settlement mint as USDC. Other mints do not count.",
});

const members = {
  merchant: Address("The merchant's wallet."),
  merchant_pda: Address("The merchant's account in the attestor program."),
  name: Type.String({ minLength: 1 }),
  same_name: nullable(
    Count(
      "Other merchants whose names read the same: by NFKC, without case, invisible characters and repeated spaces, and with letters that look alike as one (UTS 39).",
    ),
    {
      description: "Null: the index does not answer, or has not been synced yet.",
    },
  ),
  attestor: Address("The key that new escrows record, and whose attestations release them."),
  previous_attestor: nullable(Address("The key before the last rotation."), {
    description: "Null: never rotated.",
  }),
  attestor_since: Time("When the present attestor was recorded."),
  revoked_seq: Type.String({
    description:
      "Escrows created by an event up to this number can only be cancelled or refunded; 0: nothing was revoked.",
    pattern: "^(0|[1-9][0-9]*)$",
  }),
  status: MerchantStatus,
  reputation: Count(
    "Releases in the settlement mint, a session's one, less points taken by the admin.",
  ),
  slashes: Count("How often the admin took points."),
  deliveries: Count("Escrows released in full; a session counts once."),
  partial_deliveries: Count("Escrows released in part; a session counts once."),
  volume_stroops: Stroops("Base units of the settlement mint delivered."),
  volume_usdc: VolumeUsdc,
  registered_at: Time("When it registered."),
  updated_at: Time("When its account last changed."),
} as const;

/** A registered merchant, as its account shows it. */
export const Merchant = record("Merchant", "A registered merchant.", members);
/** A merchant's account as JSON. */
export type MerchantRecord = Static<typeof Merchant>;

const MerchantStats = record(
  "MerchantStats",
  "Counts of the indexed escrows that name the merchant; a session counts once, however many deliveries it attests. They are counts, not a rating: anyone can open and refund an escrow that names a merchant.",
  {
    escrows: Count("All of them."),
    pending: Count("Not settled yet."),
    fulfilled: Count("Settled with all of it paid."),
    partially_fulfilled: Count("Settled with a part paid."),
    refunded: Count("Settled with nothing paid: refunded or cancelled."),
    volume_usdc: VolumeUsdc,
    median_delivery_seconds: nullable(Count("From creation to release, of single payments."), {
      description: "Null before the first release.",
    }),
  },
);

/** A registered merchant with the index's counts of its escrows. */
export const RegistryEntry = record("RegistryEntry", "A registered merchant with its counts.", {
  ...members,
  stats: MerchantStats,
});
/** A merchant of the registry's list as JSON, with the counts of its escrows. */
export type RegistryEntryRecord = Static<typeof RegistryEntry>;

/**
 * A merchant as JSON; `sameName` is null when the index has no count, `settlementMint` undefined when it is not listed.
 */
export const merchantRecord = (
  merchant: DomainMerchant,
  sameName: number | null,
  settlementMint: SupportedMint | undefined,
): MerchantRecord => ({
  merchant: merchant.wallet,
  merchant_pda: merchant.address,
  name: merchant.name,
  same_name: sameName,
  attestor: merchant.attestor,
  previous_attestor: merchant.previousAttestor,
  attestor_since: formatUnixTime(merchant.attestorSince),
  revoked_seq: merchant.revokedSeq.toString(),
  status: merchant.status,
  reputation: merchant.reputation,
  slashes: merchant.slashes,
  deliveries: Number(merchant.deliveries),
  partial_deliveries: Number(merchant.partialDeliveries),
  volume_stroops: merchant.volume.toString(),
  volume_usdc: usdcOf(merchant.volume, settlementMint),
  registered_at: formatUnixTime(merchant.registeredAt),
  updated_at: formatUnixTime(merchant.updatedAt),
});

/** The volume comes from the merchant's account. A sum over the index would count mints that anyone can make. */
const statsRecord = (
  stats: DomainMerchantStats,
  volumeUsdc: string | null,
): RegistryEntryRecord["stats"] => ({
  escrows: stats.escrows,
  pending: stats.pending,
  fulfilled: stats.fulfilled,
  partially_fulfilled: stats.partiallyFulfilled,
  refunded: stats.refunded,
  volume_usdc: volumeUsdc,
  median_delivery_seconds:
    stats.medianDeliverySeconds === null ? null : Number(stats.medianDeliverySeconds),
});

/** A merchant with its counts as JSON. */
export const registryEntryRecord = (
  { merchant, stats, sameName }: Entry,
  settlementMint: SupportedMint | undefined,
): RegistryEntryRecord => {
  const shown = merchantRecord(merchant, sameName, settlementMint);
  return { ...shown, stats: statsRecord(stats, shown.volume_usdc) };
};

/** The example merchant of the documentation. */
export const merchantExample = () =>
  merchantRecord(sampleMerchant(), 0, sampleInstance().supportedMints[0]);

/** The example registry entry of the documentation. */
export const registryEntryExample = () =>
  registryEntryRecord(
    { merchant: sampleMerchant(), stats: merchantStats([sampleEscrow()]), sameName: 0 },
    sampleInstance().supportedMints[0],
  );
