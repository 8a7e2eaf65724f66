import type { Address } from "../../core/domain/address.ts";
import type { SubscribeRequest } from "./geyser-protocol.ts";

/** A filter's name has at most 32 bytes (yellowstone-grpc-geyser, `filter_name_size_limit`), so an address may not fit. */
const TRANSACTIONS = "transactions-";

/**
 * A subscription at `finalized` to accounts that the programs own, without their data, to transactions that name a
 * program and did not fail, and to slots, which show how far the stream has come. `fromSlot` asks for what came since
 * that slot, inclusive; null for none.
 */
export const subscriptionTo = (
  programs: ReadonlyArray<Address>,
  fromSlot: bigint | null,
): SubscribeRequest => ({
  accounts: { accounts: { owner: programs } },
  accounts_data_slice: [{ offset: "0", length: "0" }],
  transactions_status: Object.fromEntries(
    programs.map((program, at) => [
      `${TRANSACTIONS}${at}`,
      { vote: false, failed: false, account_include: [program] },
    ]),
  ),
  slots: { slots: { filter_by_commitment: true } },
  commitment: "FINALIZED",
  ...(fromSlot === null ? {} : { from_slot: fromSlot.toString() }),
});

/** The program whose transactions a filter of the subscription selects; undefined for any other filter. */
export const programOfFilter = (
  filter: string,
  programs: ReadonlyArray<Address>,
): Address | undefined => programs.find((_program, at) => filter === `${TRANSACTIONS}${at}`);
