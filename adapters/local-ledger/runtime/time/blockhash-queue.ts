import { addressFromBytes } from "../../../../core/domain/address.ts";

/** Blocks for which a blockhash stays valid (Agave `clock.rs`: MAX_PROCESSING_AGE). */
export const MAX_PROCESSING_AGE = 150;

/**
 * The blockhashes of one ledger. A block's hash is the SHA-256 of the genesis hash and the slot (u64 LE), so the queue
 * survives a restart without being stored. Such hashes are predictable, which is harmless on one machine.
 */
export const blockhashQueue = (genesisHash: Uint8Array) => {
  const slotOf = new Map<string, number>();
  let newest = -1;

  const hashBytes = (slot: number): Uint8Array => {
    const preimage = new Uint8Array(genesisHash.length + 8);
    preimage.set(genesisHash);
    new DataView(preimage.buffer).setBigUint64(genesisHash.length, BigInt(slot), true);
    return new Uint8Array(Bun.SHA256.hash(preimage).buffer);
  };
  const hash = (slot: number): string => addressFromBytes(hashBytes(slot));

  const fillUpTo = (slot: number): void => {
    for (let next = Math.max(newest + 1, slot - MAX_PROCESSING_AGE); next <= slot; next++)
      slotOf.set(hash(next), next);
    newest = Math.max(newest, slot);
    for (const [text, old] of slotOf) {
      if (old >= newest - MAX_PROCESSING_AGE) break;
      slotOf.delete(text);
    }
  };

  return {
    hash,
    hashBytes,
    /** Whether a transaction in block `slot` may use the blockhash: its own block is 1 to 150 blocks older. */
    isUsable: (blockhash: string, slot: number): boolean => {
      fillUpTo(slot - 1);
      const of = slotOf.get(blockhash);
      return of !== undefined && of < slot && slot - of <= MAX_PROCESSING_AGE;
    },
  };
};

/** See `blockhashQueue`. */
export type BlockhashQueue = ReturnType<typeof blockhashQueue>;
