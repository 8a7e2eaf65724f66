import { MAX_PROCESSING_AGE } from "./blockhash-queue.ts";
import type { TransactionLog } from "./transaction-log.ts";
import { messageBytesOf } from "./wire-transaction.ts";

const keyOf = (messageBytes: Uint8Array): string =>
  Buffer.from(Bun.SHA256.hash(messageBytes).buffer).toString("latin1");

/**
 * Remembers the messages of the last 150 blocks: an older one is refused for its blockhash, so none can
 * run twice. By message, not by signature, as in Agave's status cache: one message has many signatures.
 */
export const replayGuard = (log: TransactionLog, currentSlot: number) => {
  const slotOf = new Map<string, number>();
  for (const { wire, slot } of log.since(currentSlot - MAX_PROCESSING_AGE - 1))
    slotOf.set(keyOf(messageBytesOf(wire)), slot);
  return {
    hasSeen: (messageBytes: Uint8Array): boolean => slotOf.has(keyOf(messageBytes)),
    remember: (messageBytes: Uint8Array, slot: number): void => {
      slotOf.set(keyOf(messageBytes), slot);
      for (const [key, old] of slotOf) {
        if (old >= slot - MAX_PROCESSING_AGE) break;
        slotOf.delete(key);
      }
    },
  };
};

/** See `replayGuard`. */
export type ReplayGuard = ReturnType<typeof replayGuard>;
