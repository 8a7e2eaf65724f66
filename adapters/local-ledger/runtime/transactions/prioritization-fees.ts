import type { Address } from "../../../../core/domain/address.ts";
import { decodeSanitizedTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { accountKeysOf } from "../accounts/account-keys.ts";
import { computeBudgetOf } from "./transaction-fee.ts";
import type { TransactionLog } from "./transaction-log.ts";

/** Number of recent blocks that are kept (Agave `runtime/src/prioritization_fee_cache.rs`: MAX_NUM_RECENT_BLOCKS). */
const RECENT_BLOCKS = 150;

/** The lowest prices of a compute unit in one block, micro-lamports. */
type BlockPrices = {
  readonly lowest: bigint;
  /** The lowest price among the transactions that write each account. */
  readonly lowestOf: ReadonlyMap<Address, bigint>;
};

/** Undefined for a block in which no transaction asks for compute units. */
const pricesOf = (log: TransactionLog, slot: number): BlockPrices | undefined => {
  let lowest: bigint | undefined;
  const lowestOf = new Map<Address, bigint>();
  for (const { wire, meta } of log.ofSlot(slot)) {
    const decoded = decodeSanitizedTransaction(wire);
    if ("malformed" in decoded) continue;
    const { units, microLamportsPerUnit: price } = computeBudgetOf(decoded.value);
    if (units === 0n) continue;
    if (lowest === undefined || price < lowest) lowest = price;
    const keys = accountKeysOf(decoded.value, meta.loadedAddresses);
    keys.all.forEach((account, index) => {
      const known = lowestOf.get(account);
      if (keys.isWritable(index) && (known === undefined || price < known))
        lowestOf.set(account, price);
    });
  }
  return lowest === undefined ? undefined : { lowest, lowestOf };
};

/** The lowest prices at which transactions landed in recent blocks, read from the log. */
export const prioritizationFees = (log: TransactionLog) => {
  // A finished block does not change, so each is read once.
  const known = new Map<number, BlockPrices | undefined>();
  return {
    /**
     * The newest blocks up to a slot that hold a transaction, at most 150, oldest first: the lowest price of a
     * transaction in the block, or, when that is higher, of one that writes one of the accounts.
     */
    recent: (upTo: number, accounts: ReadonlyArray<Address>) => {
      const slots = log.slotsUpTo(upTo, RECENT_BLOCKS).toReversed();
      const [oldest] = slots;
      for (const slot of known.keys())
        if (oldest === undefined || slot < oldest) known.delete(slot);
      return slots.flatMap((slot) => {
        if (!known.has(slot)) known.set(slot, pricesOf(log, slot));
        const prices = known.get(slot);
        if (prices === undefined) return [];
        const prioritizationFee = accounts
          .map((account) => prices.lowestOf.get(account) ?? 0n)
          .reduce((highest, price) => (price > highest ? price : highest), prices.lowest);
        return [{ slot, prioritizationFee }];
      });
    },
  };
};
