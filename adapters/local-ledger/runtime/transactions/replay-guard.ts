import { MAX_PROCESSING_AGE } from "../time/blockhash-queue.ts";
import type { TransactionLog } from "./transaction-log.ts";

const keyOf = (message: Uint8Array): string =>
  Buffer.from(Bun.SHA256.hash(message).buffer).toString("latin1");

/** The signed part of a landed transaction. It has fewer than 128 signatures, so one byte counts them. */
const messageOf = (wire: Uint8Array): Uint8Array => wire.subarray(1 + 64 * (wire[0] ?? 0));

/**
 * Keeps the messages of the last 150 blocks. Older ones are refused for their blockhash, so no message can run twice.
 * Compares messages, like Agave's status cache, because one message can have many signatures.
 */
export const replayGuard = (log: TransactionLog, currentSlot: number) => {
  const slotOf = new Map<string, number>();
  for (const { wire, slot } of log.since(currentSlot - MAX_PROCESSING_AGE - 1))
    slotOf.set(keyOf(messageOf(wire)), slot);
  return {
    hasSeen: (message: Uint8Array): boolean => slotOf.has(keyOf(message)),
    record: (message: Uint8Array, slot: number): void => {
      slotOf.set(keyOf(message), slot);
      for (const [key, old] of slotOf) {
        if (old >= slot - MAX_PROCESSING_AGE) break;
        slotOf.delete(key);
      }
    },
  };
};

/** See `replayGuard`. */
export type ReplayGuard = ReturnType<typeof replayGuard>;
