import { concatBytes } from "@noble/hashes/utils.js";
import {
  CALL_RECEIPT_LENGTH,
  type CallReceipt,
  parseReceiptHeader,
  receiptHeader,
} from "./call-receipt.ts";

/** The value of `RECEIPT_HEADER` of an answer whose receipt is the last event of its stream. */
export const RECEIPT_IN_STREAM = "in-stream";

const utf8 = new TextEncoder();
const BEGIN = utf8.encode("event: settlement-receipt\ndata: ");
const END = "\n\n";

/** The bytes of every receipt event: 322. */
export const RECEIPT_EVENT_LENGTH =
  BEGIN.length + Math.ceil(CALL_RECEIPT_LENGTH / 3) * 4 + END.length;

/**
 * The last event of a stream that is paid for (HTML, "Server-sent events"): the receipt as in its header. What it
 * attests is every byte before this event.
 */
export const receiptEvent = (receipt: CallReceipt): Uint8Array =>
  concatBytes(BEGIN, utf8.encode(receiptHeader(receipt) + END));

/** The receipt's header value in such an event; null for any other bytes. */
const valueIn = (bytes: Uint8Array): string | null => {
  if (bytes.length !== RECEIPT_EVENT_LENGTH || !beginsAt(bytes, 0)) return null;
  const text = new TextDecoder().decode(bytes.subarray(BEGIN.length));
  const value = text.slice(0, -END.length);
  return text.endsWith(END) && parseReceiptHeader(value) !== undefined ? value : null;
};

/** Whether the bytes from `at` on may be the beginning of a receipt event. */
const beginsAt = (bytes: Uint8Array, at: number): boolean => {
  const length = Math.min(bytes.length - at, BEGIN.length);
  for (let i = 0; i < length; i++) if (bytes[at + i] !== BEGIN[i]) return false;
  return true;
};

/** Tells a stream's own bytes from its receipt as they come. Only what may be the receipt's beginning is held back. */
export class ReceiptSplitter {
  #held: Uint8Array = new Uint8Array();

  /** Takes the next bytes of the stream. Gives those that are certainly not the receipt's. */
  take(bytes: Uint8Array): Uint8Array {
    const all = concatBytes(this.#held, bytes);
    let from = Math.max(0, all.length - RECEIPT_EVENT_LENGTH);
    while (!beginsAt(all, from)) from += 1;
    this.#held = all.slice(from);
    return all.subarray(0, from);
  }

  /** The receipt at the stream's end, as a header's value; null for a stream without one, which was cut. */
  end(): string | null {
    return valueIn(this.#held);
  }
}
