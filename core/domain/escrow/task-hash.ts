import { sha256 } from "../sha256.ts";
import { concatBytes } from "@noble/hashes/utils.js";
import { type Hash32, hash32FromBytes } from "../hash32.ts";

/** The longest task intent, in bytes of UTF-8. */
export const MAX_TASK_INTENT_BYTES = 4096;
/** The longest nonce, in bytes of UTF-8. */
export const MAX_NONCE_BYTES = 128;

const utf8 = new TextEncoder();

/**
 * Why a text cannot be part of a task hash, undefined when it can. It needs 1 to `maxBytes` bytes of UTF-8, no U+0000
 * (the separator, which keeps the encoding injective), and no lone surrogate (which has no UTF-8). See
 * docs/protocol.md, "Task hash".
 */
export const taskTextFault = (text: string, maxBytes: number): string | undefined => {
  if (text.length === 0) return "must not be empty";
  if (text.includes("\0")) return "must not contain U+0000";
  if (!text.isWellFormed()) return "must not contain a lone surrogate";
  if (text.length > maxBytes || utf8.encode(text).length > maxBytes)
    return `must have at most ${maxBytes} bytes of UTF-8`;
  return undefined;
};

/**
 * SHA-256 of `utf8(intent)`, or of `utf8(intent) || 0x00 || utf8(nonce)` when there is a nonce. Both
 * texts must be free of `taskTextFault`. See docs/protocol.md, "Task hash".
 */
export const taskHash = (intent: string, nonce?: string): Hash32 =>
  hash32FromBytes(
    sha256(
      nonce === undefined
        ? utf8.encode(intent)
        : concatBytes(utf8.encode(intent), Uint8Array.of(0), utf8.encode(nonce)),
    ),
  );
