import type { LocalLedger } from "../../runtime/ledger.ts";
import type { LoggedTransaction } from "../../runtime/transactions/transaction-log.ts";
import { assertMinContextSlot } from "../rpc-context.ts";
import { invalidParams, RpcError, RpcErrorCode } from "../rpc-error.ts";
import {
  commitmentOf,
  configOf,
  flagOf,
  optionalNumberOf,
  type RpcConfig,
  type RpcMethod,
  unknownVariant,
  wholeNumberOf,
} from "../rpc-params.ts";
import { type TransactionConfig, transactionConfigOf, versionFor } from "../transaction-config.ts";
import { viewAccounts, viewTransaction } from "../encoding/transaction-view.ts";

/** Most slots of one list of blocks (Agave `request.rs`: MAX_GET_CONFIRMED_BLOCKS_RANGE). */
const MAX_BLOCKS = 500_000;
/** What block 0 names as the hash before it (Agave `Hash::default`). */
const NO_BLOCKHASH = "11111111111111111111111111111111";

const DETAILS = ["full", "signatures", "none", "accounts"] as const;

type BlockConfig = TransactionConfig & {
  readonly details: (typeof DETAILS)[number];
  readonly rewards: boolean;
};

const blockConfigOf = (options: unknown): BlockConfig =>
  transactionConfigOf(options, (asked) => {
    const named = asked.config["transactionDetails"] ?? "full";
    const details = DETAILS.find((known) => known === named);
    if (details === undefined) throw unknownVariant(named, DETAILS);
    return { ...asked, details, rewards: flagOf(asked.config["rewards"], "rewards", true) };
  });

/** @throws RpcError for `processed`, because that block is not complete. */
const assertConfirmed = (config: RpcConfig): void => {
  if (commitmentOf(config) === "processed")
    throw invalidParams("Method does not support commitment below `confirmed`");
};

/** The transactions of a block in the detail that is asked for (Agave `transaction-status`: `encode_with_options`). */
const contentOf = (
  logged: ReadonlyArray<LoggedTransaction>,
  { details, encoding, maxVersion, rewards }: BlockConfig,
) => {
  switch (details) {
    case "none":
      return {};
    case "signatures":
      return { signatures: logged.map(({ signature }) => signature) };
    case "accounts":
      return {
        transactions: logged.map((each) => {
          const { version, meta, transaction } = viewAccounts(each);
          const shown = rewards ? { ...meta, rewards: each.meta.rewards } : meta;
          return { transaction, meta: shown, ...versionFor(version, maxVersion) };
        }),
      };
    case "full":
      return {
        transactions: logged.map((each) => {
          const { version, meta, transaction } = viewTransaction(each, encoding);
          const shown = rewards ? meta : { ...meta, rewards: null };
          return { transaction, meta: shown, ...versionFor(version, maxVersion) };
        }),
      };
  }
};

const slotsFrom = (first: number, count: number, last: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, Math.min(count, last - first + 1)) }, (_, i) => first + i);

/** Blocks. Every slot that is over holds one, and the ledger forgets none. */
export const blockMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const finished = (config: RpcConfig) => ledger.slots.visible(commitmentOf(config));

  return {
    getBlock: ([asked, options]) => {
      const slot = wholeNumberOf(asked, "slot");
      const config = blockConfigOf(options);
      assertConfirmed(config.config);
      if (slot > finished(config.config))
        throw new RpcError(RpcErrorCode.blockNotAvailable, `Block not available for slot ${slot}`);
      return {
        previousBlockhash: slot === 0 ? NO_BLOCKHASH : ledger.blockhash(slot - 1),
        blockhash: ledger.blockhash(slot),
        parentSlot: Math.max(0, slot - 1),
        ...contentOf(config.details === "none" ? [] : ledger.log.ofSlot(slot), config),
        ...(config.rewards ? { rewards: [] } : {}),
        blockTime: ledger.clock.unixTime(slot),
        blockHeight: slot,
      };
    },

    getBlocks: ([first, lastOrConfig, options]) => {
      const start = wholeNumberOf(first, "start slot");
      // The second parameter is the last slot or the configuration.
      const hasLast = typeof lastOrConfig !== "object" || lastOrConfig === null;
      const config = configOf(options ?? (hasLast ? undefined : lastOrConfig));
      const last = hasLast ? optionalNumberOf(lastOrConfig, "end slot", undefined) : undefined;
      assertConfirmed(config);
      assertMinContextSlot(config, finished(config));
      const end = Math.min(last ?? start + MAX_BLOCKS, finished(config));
      if (end - start > MAX_BLOCKS) throw invalidParams(`Slot range too large; max ${MAX_BLOCKS}`);
      return slotsFrom(start, end - start + 1, finished(config));
    },

    getBlocksWithLimit: ([first, limit, options]) => {
      const start = wholeNumberOf(first, "start slot");
      const count = wholeNumberOf(limit, "limit", "usize");
      const config = configOf(options);
      assertConfirmed(config);
      if (count > MAX_BLOCKS) throw invalidParams(`Limit too large; max ${MAX_BLOCKS}`);
      assertMinContextSlot(config, finished(config));
      return slotsFrom(start, count, finished(config));
    },
  };
};
