import type { Address } from "../../../../core/domain/address.ts";
import { fieldsOf } from "../../../../core/protocol/accounts/byte-fields.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import {
  decodeSanitizedTransaction,
  type WireMessage,
} from "../../../../core/protocol/transaction/wire-transaction.ts";
import { accountKeysOf } from "../accounts/account-keys.ts";
import type { TransactionLog } from "./transaction-log.ts";

/** Lamports per signature (Agave `fee_calculator.rs`: DEFAULT_TARGET_LAMPORTS_PER_SIGNATURE). */
const LAMPORTS_PER_SIGNATURE = 5000n;
/**
 * Compute units granted per built-in instruction, per other instruction, and to one transaction at most (SIMD-0170,
 * Agave `execution_budget.rs`).
 */
const BUILTIN_UNITS = 3000n;
const PROGRAM_UNITS = 200_000n;
const MAX_UNITS = 1_400_000n;
const MICRO_LAMPORTS = 1_000_000n;

const PRECOMPILES: ReadonlySet<string> = new Set([
  ED25519_PROGRAM,
  "KeccakSecp256k11111111111111111111111111111",
  "Secp256r1SigVerify1111111111111111111111111",
]);
/** Agave `builtins-default-costs`: programs of the runtime that are not migrated to BPF. */
const BUILTINS: ReadonlySet<string> = new Set([
  ...PRECOMPILES,
  COMPUTE_BUDGET_PROGRAM,
  "11111111111111111111111111111111",
  "Vote111111111111111111111111111111111111111",
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "LoaderV411111111111111111111111111111111111",
]);

/** The compute budget of a message: its requested or default units, and their price. */
const computeBudgetOf = ({
  instructions,
}: WireMessage): { readonly units: bigint; readonly microLamportsPerUnit: bigint } => {
  let grantedUnits = 0n;
  let limit: bigint | undefined;
  let microLamportsPerUnit = 0n;
  for (const { program, data } of instructions) {
    grantedUnits += BUILTINS.has(program) ? BUILTIN_UNITS : PROGRAM_UNITS;
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    if (data[0] === 2 && data.length >= 5) limit = BigInt(fieldsOf(data).u32(1));
    if (data[0] === 3 && data.length >= 9) microLamportsPerUnit = fieldsOf(data).u64(1);
  }
  const wantedUnits = limit ?? grantedUnits;
  return { units: wantedUnits < MAX_UNITS ? wantedUnits : MAX_UNITS, microLamportsPerUnit };
};

/** The fee in lamports: signatures, those of precompile instructions included, and the priority fee. */
export const transactionFee = (message: WireMessage): bigint => {
  const { units, microLamportsPerUnit } = computeBudgetOf(message);
  const signatures = message.instructions
    .filter(({ program }) => PRECOMPILES.has(program))
    .reduce((sum, { data }) => sum + BigInt(data[0] ?? 0), BigInt(message.signerCount));
  const priority = (units * microLamportsPerUnit + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return signatures * LAMPORTS_PER_SIGNATURE + priority;
};

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
      const lowestSoFar = lowestOf.get(account);
      if (keys.isWritable(index) && (lowestSoFar === undefined || price < lowestSoFar))
        lowestOf.set(account, price);
    });
  }
  return lowest === undefined ? undefined : { lowest, lowestOf };
};

/** The lowest prices at which transactions landed in recent blocks, read from the log. */
export const prioritizationFees = (log: TransactionLog) => {
  // A finished block does not change, so each is read once.
  const pricesBySlot = new Map<number, BlockPrices | undefined>();
  return {
    /**
     * The newest blocks up to a slot that hold a transaction, at most 150, oldest first: the lowest price of a
     * transaction in the block, or, when that is higher, of one that writes one of the accounts.
     */
    recent: (upTo: number, accounts: ReadonlyArray<Address>) => {
      const slots = log.slotsUpTo(upTo, RECENT_BLOCKS).toReversed();
      const [oldest] = slots;
      for (const slot of pricesBySlot.keys())
        if (oldest === undefined || slot < oldest) pricesBySlot.delete(slot);
      return slots.flatMap((slot) => {
        if (!pricesBySlot.has(slot)) pricesBySlot.set(slot, pricesOf(log, slot));
        const prices = pricesBySlot.get(slot);
        if (prices === undefined) return [];
        const prioritizationFee = accounts
          .map((account) => prices.lowestOf.get(account) ?? 0n)
          .reduce((highest, price) => (price > highest ? price : highest), prices.lowest);
        return [{ slot, prioritizationFee }];
      });
    },
  };
};
