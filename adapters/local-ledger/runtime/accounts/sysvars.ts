import { address, type Address } from "../../../../core/domain/address.ts";
import { fieldWriter } from "../../../../core/protocol/accounts/byte-fields.ts";
import { CLOCK_SYSVAR } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import type { AccountState } from "./account-store.ts";
import { type BlockhashQueue, type SlotClock, SLOTS_PER_EPOCH } from "../time/slots.ts";

const SYSVAR_OWNER = address("Sysvar1111111111111111111111111111111111111");
const SLOT_HASHES_SYSVAR = address("SysvarS1otHashes111111111111111111111111111");
/** Slots that the SlotHashes sysvar keeps (Agave `slot_hashes.rs`: MAX_ENTRIES). */
const MAX_SLOT_HASHES = 512;

const sysvar = (data: Uint8Array, lamports: bigint): AccountState => ({
  lamports,
  owner: SYSVAR_OWNER,
  data,
  executable: false,
  rentEpoch: 0n,
});

/** The sysvars that change with every slot, at a given slot. */
export const slotSysvars = (
  clock: SlotClock,
  blockhashes: BlockhashQueue,
  minimumBalance: (dataLength: number) => bigint,
) => {
  /** Clock: slot, epoch start (i64 seconds), epoch, next epoch, unix time (i64), 40 bytes (Agave `clock.rs`). */
  const clockAt = (slot: number): AccountState => {
    const epoch = Math.floor(slot / SLOTS_PER_EPOCH);
    const data = fieldWriter(40)
      .u64(BigInt(slot))
      .i64(BigInt(clock.unixTime(epoch * SLOTS_PER_EPOCH)))
      .u64(BigInt(epoch))
      .u64(BigInt(epoch + 1))
      .i64(BigInt(clock.unixTime(slot)))
      .done();
    return sysvar(data, minimumBalance(40));
  };
  /** SlotHashes: count, then slot (u64) and hash (32) of each earlier slot, newest first (Agave `slot_hashes.rs`). */
  const slotHashesAt = (slot: number): AccountState => {
    const count = Math.min(slot, MAX_SLOT_HASHES);
    const length = 8 + 40 * MAX_SLOT_HASHES;
    const writer = fieldWriter(length).u64(BigInt(count));
    for (let back = 1; back <= count; back++)
      writer.u64(BigInt(slot - back)).bytes(blockhashes.hashBytes(slot - back));
    return sysvar(writer.skip(40 * (MAX_SLOT_HASHES - count)).done(), minimumBalance(length));
  };
  const sysvars: ReadonlyMap<Address, (slot: number) => AccountState> = new Map([
    [CLOCK_SYSVAR, clockAt],
    [SLOT_HASHES_SYSVAR, slotHashesAt],
  ]);
  return {
    /** The sysvar at an address in a slot; undefined for an address that no slot changes. */
    read: (address: Address, slot: number): AccountState | undefined =>
      sysvars.get(address)?.(slot),
    all: (slot: number): ReadonlyArray<readonly [Address, AccountState]> =>
      [...sysvars].map(([address, at]) => [address, at(slot)] as const),
  };
};
