import type { Address } from "../../../../core/domain/address.ts";
import {
  type AccountState,
  type AccountStore,
  type DataConditions,
  meetsConditions,
} from "./account-store.ts";
import type { Commitment, Slots } from "../time/slots.ts";
import type { slotSysvars } from "./sysvars.ts";
import type { VirtualMachine } from "../virtual-machine.ts";

/** Reads accounts at a commitment, never newer than its slot of `Slots.visible`. */
export const accountReader = (
  vm: VirtualMachine,
  store: AccountStore,
  slots: Slots,
  sysvars: ReturnType<typeof slotSysvars>,
) => {
  const read = (address: Address, commitment: Commitment): AccountState | undefined => {
    const sysvar = sysvars.read(address, slots.visible(commitment));
    if (sysvar !== undefined) return sysvar;
    const changed = slots.changedBeyond(commitment);
    return changed.has(address) ? changed.get(address) : vm.read(address);
  };

  return {
    read,
    /** Every account of an owner whose data meets the conditions, in no order. */
    *ofOwner(
      owner: Address,
      conditions: DataConditions,
      commitment: Commitment,
    ): Generator<[Address, AccountState]> {
      const changed = slots.changedBeyond(commitment);
      for (const [address, state] of changed)
        if (state?.owner === owner && meetsConditions(state.data, conditions))
          yield [address, state];
      for (const entry of store.ofOwner(owner, conditions)) if (!changed.has(entry[0])) yield entry;
      for (const address of vm.builtInAccounts(owner)) {
        if (changed.has(address) || store.has(address)) continue;
        const state = read(address, commitment);
        if (state?.owner === owner && meetsConditions(state.data, conditions))
          yield [address, state];
      }
    },
  };
};
