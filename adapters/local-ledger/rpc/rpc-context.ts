import type { LocalLedger } from "../runtime/ledger.ts";
import type { Commitment } from "../runtime/time/slots.ts";
import {
  commitmentOf,
  optionalNumberOf,
  type RpcConfig,
  RpcError,
  RpcErrorCode,
} from "./rpc-params.ts";

/** The Agave release whose JSON-RPC answers these are modelled on. */
export const AGAVE_VERSION = "3.0.0";

/** The `context` of an answer (Agave `rpc-client-types/src/response.rs`: RpcResponseContext). */
export type ResponseContext = { readonly apiVersion: string; readonly slot: number };

/** The context of an answer that stands at a slot. */
export const contextAt = (slot: number): ResponseContext => ({ apiVersion: AGAVE_VERSION, slot });

/** Where a read stands: what it may see, and the slot it reports. */
export type ReadPoint = { readonly commitment: Commitment; readonly context: ResponseContext };

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
  return { commitment, context: contextAt(slot) };
};
