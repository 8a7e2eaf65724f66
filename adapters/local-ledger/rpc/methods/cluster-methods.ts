import { parseAddress } from "../../../../core/domain/address.ts";
import type { LocalLedger } from "../../runtime/ledger.ts";
import { SLOTS_PER_EPOCH } from "../../runtime/time/slots.ts";
import { transactionFee } from "../../runtime/transactions/transaction-fee.ts";
import { AGAVE_VERSION, readPoint } from "../rpc-context.ts";
import {
  addressOf,
  arrayOf,
  base58Fault,
  commitmentOf,
  configOf,
  invalidParams,
  invalidRequest,
  RpcError,
  RpcErrorCode,
  type RpcMethod,
  textOf,
  wholeNumberOf,
} from "../rpc-params.ts";
import { messageOf } from "../encoding/transaction-encoding.ts";

/** Longest data of an account, 10 MiB (Agave `system_instruction.rs`: MAX_PERMITTED_DATA_LENGTH). */
const MAX_PERMITTED_DATA_LENGTH = 10 * 1024 * 1024;
/** Most accounts of one getRecentPrioritizationFees (Agave `sanitized.rs`: MAX_TX_ACCOUNT_LOCKS). */
const MAX_TX_ACCOUNT_LOCKS = 128;

/** The ledger's own state: health, identity, slots, epochs, time. */
export const clusterMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const slotOf: RpcMethod = ([config]) => readPoint(ledger, configOf(config)).context.slot;

  return {
    getHealth: () => "ok",
    getVersion: () => ({ "solana-core": AGAVE_VERSION, "feature-set": 0 }),
    getGenesisHash: () => ledger.genesisHash,
    getSlot: slotOf,
    // Every slot holds one block, and slot 0 holds block 0.
    getBlockHeight: slotOf,
    getFirstAvailableBlock: () => 0,
    getEpochInfo: ([config]) => {
      const { slot } = readPoint(ledger, configOf(config)).context;
      return {
        absoluteSlot: slot,
        blockHeight: slot,
        epoch: Math.floor(slot / SLOTS_PER_EPOCH),
        slotIndex: slot % SLOTS_PER_EPOCH,
        slotsInEpoch: SLOTS_PER_EPOCH,
        transactionCount: ledger.transactionCount(),
      };
    },
    getBlockTime: ([slot]) => {
      const slotNumber = wholeNumberOf(slot, "slot");
      if (slotNumber > ledger.slots.visible("processed"))
        throw new RpcError(
          RpcErrorCode.blockNotAvailable,
          `Block not available for slot ${slotNumber}`,
        );
      return ledger.clock.unixTime(slotNumber);
    },
    getMinimumBalanceForRentExemption: ([length, config]) => {
      commitmentOf(configOf(config));
      const bytes = wholeNumberOf(length, "data length", "usize");
      if (bytes > MAX_PERMITTED_DATA_LENGTH) throw invalidRequest();
      return ledger.minimumBalance(bytes);
    },
    getLatestBlockhash: ([config]) => {
      const { commitment, context } = readPoint(ledger, configOf(config));
      return { context, value: ledger.latestBlockhash(commitment) };
    },
    isBlockhashValid: ([blockhash, config]) => {
      const text = textOf(blockhash, "blockhash");
      if (parseAddress(text) === undefined) throw invalidParams(base58Fault(text, 32));
      const { context } = readPoint(ledger, configOf(config));
      return { context, value: ledger.isBlockhashUsable(text) };
    },
    getRecentPrioritizationFees: ([accounts]) => {
      const writable = arrayOf(accounts ?? [], "accounts", MAX_TX_ACCOUNT_LOCKS);
      return ledger.prioritizationFees.recent(
        ledger.slots.visible("confirmed"),
        writable.map((account) => addressOf(account)),
      );
    },
    getFeeForMessage: ([message, config]) => {
      const { context } = readPoint(ledger, configOf(config));
      const decoded = messageOf(message);
      const usable = ledger.isBlockhashUsable(decoded.blockhash);
      return { context, value: usable ? transactionFee(decoded) : null };
    },
  };
};
