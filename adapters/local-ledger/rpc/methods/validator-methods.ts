import type { LocalLedger } from "../../runtime/ledger.ts";
import { SLOTS_PER_EPOCH } from "../../runtime/time/slot-clock.ts";
import { readPoint } from "../rpc-context.ts";
import { invalidParams } from "../rpc-error.ts";
import {
  addressOf,
  commitmentOf,
  configOf,
  flagOf,
  optionalNumberOf,
  type RpcMethod,
  wholeNumberOf,
} from "../rpc-params.ts";

/** Most leaders of one call (Agave `request.rs`: MAX_GET_SLOT_LEADERS). */
const MAX_SLOT_LEADERS = 5000;

const epochOf = (slot: number): number => Math.floor(slot / SLOTS_PER_EPOCH);

/** Who makes the blocks: this node makes all of them, and nobody votes. */
export const validatorMethods = (ledger: LocalLedger): Readonly<Record<string, RpcMethod>> => {
  const identity = ledger.genesisHash;

  return {
    getIdentity: () => ({ identity }),

    getSlotLeader: ([options]) => {
      readPoint(ledger, configOf(options));
      return identity;
    },

    getSlotLeaders: ([first, limit]) => {
      const start = wholeNumberOf(first, "start slot");
      const count = wholeNumberOf(limit, "limit");
      if (count > MAX_SLOT_LEADERS) throw invalidParams(`Invalid limit; max ${MAX_SLOT_LEADERS}`);
      // A node knows the leaders of its epoch and of the next one.
      const known = epochOf(ledger.slots.visible("finalized")) + 1;
      const unknown = Math.max(epochOf(start), known + 1);
      if (count > 0 && epochOf(start + count - 1) >= unknown)
        throw invalidParams(
          `Invalid slot range: leader schedule for epoch ${unknown} is unavailable`,
        );
      return Array.from({ length: count }, () => identity);
    },

    getVoteAccounts: ([options]) => {
      const config = configOf(options);
      commitmentOf(config);
      flagOf(config["keepUnstakedDelinquents"], "keepUnstakedDelinquents");
      optionalNumberOf(config["delinquentSlotDistance"], "delinquentSlotDistance", undefined);
      const only = config["votePubkey"];
      if (only !== undefined && only !== null) addressOf(only, "votePubkey");
      return { current: [], delinquent: [] };
    },
  };
};
