import { type Static, Type } from "@sinclair/typebox";
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

const members = {
  merchant: Address("The merchant's wallet."),
  merchant_pda: Address("The merchant's account in the attestor program."),
  name: Type.String({ minLength: 1 }),
  attestor: Address("The key whose attestations release escrows."),
  status: MerchantStatus,
  reputation: Count("Deliveries in the settlement mint, less points taken by the admin."),
  deliveries: Count("Escrows released in full."),
  partial_deliveries: Count("Escrows released in part."),
  volume_stroops: Stroops("Base units of the settlement mint delivered."),
  volume_usdc: Usdc("The same with six decimals."),
  registered_at: Time("When it registered."),
  updated_at: Time("When its account last changed."),
} as const;

/** A registered merchant, as its account shows it. */
export const Merchant = record("Merchant", "A registered merchant.", members);
export type MerchantRecord = Static<typeof Merchant>;

const MerchantStats = record(
  "MerchantStats",
  "Counts of the indexed escrows that name the merchant. They are counts, not a rating: anyone can open and refund an escrow that names a merchant.",
  {
    escrows: Count("All of them."),
    pending: Count("Not settled yet."),
    fulfilled: Count("Released in full."),
    partially_fulfilled: Count("Released in part."),
    refunded: Count("Refunded after expiry."),
    volume_usdc: Usdc("Delivered in the settlement mint; other mints do not count."),
    median_delivery_seconds: nullable(Count("From creation to release."), {
      description: "Null before the first release.",
    }),
  },
);

/** A registered merchant with what the index counts of it. */
export const RegistryEntry = record("RegistryEntry", "A registered merchant with its counts.", {
  ...members,
  stats: MerchantStats,
});
export type RegistryEntryRecord = Static<typeof RegistryEntry>;
