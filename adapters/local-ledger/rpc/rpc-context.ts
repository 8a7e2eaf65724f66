import type { LocalLedger } from "../runtime/ledger.ts";
import type { Commitment } from "../runtime/time/slots.ts";
import { RpcError, RpcErrorCode } from "./rpc-error.ts";
import { commitmentOf, optionalNumberOf, type RpcConfig } from "./rpc-params.ts";

/** The state a read sees, and the slot it reports. */
export type ReadPoint = {
  readonly commitment: Commitment;
  readonly context: { readonly slot: number };
};

/** @throws RpcError -32016 when the configuration asks for a slot that the ledger has not reached. */
export const assertMinContextSlot = (config: RpcConfig, slot: number): void => {
  const minimum = optionalNumberOf(config["minContextSlot"], "minContextSlot", 0);
  if (slot < minimum)
    throw new RpcError(
      RpcErrorCode.minContextSlotNotReached,
      "Minimum context slot has not been reached",
      { contextSlot: slot },
    );
};

/** The read point that a configuration asks for. @throws RpcError when its `minContextSlot` is not reached. */
export const readPoint = (ledger: LocalLedger, config: RpcConfig): ReadPoint => {
  const commitment = commitmentOf(config);
  const slot = ledger.slots.visible(commitment);
  assertMinContextSlot(config, slot);
  return { commitment, context: { slot } };
};
