import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import type { Address } from "../../../core/domain/address.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import type { CallReceipt } from "../../../core/protocol/calls/call-receipt.ts";
import type { CallVoucher } from "../../../core/protocol/calls/call-voucher.ts";
import { RECEIPT_IN_STREAM, receiptEvent } from "../../../core/protocol/calls/receipt-event.ts";
import { tallyIn } from "../store/session-state.ts";
import type { SessionStore, StagedCall } from "../store/session-store.ts";
import { recorded } from "./attest-calls.ts";
import { deliveryOf, MOST_KEPT_BYTES, type ReservedCall } from "./reserved-call.ts";
import type { StreamedAnswer } from "./seller-context.ts";
import { responseOf } from "./sent-answer.ts";

/** The header of an answer that is given again, of a stream that did not come to its end: its value is `cut`. */
export const STREAM_HEADER = "settlement-stream";

/** What left the seller of a stream so far. */
class StreamSoFar {
  readonly #call: ReservedCall;
  readonly #answer: StreamedAnswer;
  readonly #hash = sha256.create();
  #kept: Array<Uint8Array> = [];
  /** Bytes. */
  length = 0;

  constructor(call: ReservedCall, answer: StreamedAnswer) {
    this.#call = call;
    this.#answer = answer;
  }

  add(bytes: Uint8Array): void {
    this.#hash.update(bytes);
    this.length += bytes.length;
    if (this.length <= MOST_KEPT_BYTES) this.#kept.push(bytes.slice());
    else this.#kept = [];
  }

  /** It as a delivery, for a price in base units. */
  delivery(price: bigint, isWhole: boolean): StagedCall {
    const { status, headers } = this.#answer;
    const body = concatBytes(...this.#kept);
    return deliveryOf(this.#call, {
      status,
      body: hash32FromBytes(this.#hash.clone().digest()),
      price,
      answer:
        body.length < this.length
          ? null
          : { status, headers: isWhole ? headers : [...headers, [STREAM_HEADER, "cut"]], body },
    });
  }
}

/** A stream that this process is sending. */
type RunningStream = {
  readonly voucher: CallVoucher;
  readonly cut: (reason: unknown) => Promise<void>;
};

const runningStreams = new WeakMap<SessionStore, Map<Address, RunningStream>>();

/** The streams that this process is sending out of a store's sessions. */
const streamsOf = (store: SessionStore): Map<Address, RunningStream> => {
  const streams = runningStreams.get(store) ?? new Map<Address, RunningStream>();
  runningStreams.set(store, streams);
  return streams;
};

/**
 * Ends the stream of this very call where it is: its agent asks again, so that it has lost the line, whatever the line
 * says of itself. False where this process sends no stream of the call.
 */
export const cutStreamOf = async (
  store: SessionStore,
  { escrow, signature }: CallVoucher,
): Promise<boolean> => {
  const stream = streamsOf(store).get(escrow);
  if (stream === undefined || bytesToHex(stream.voucher.signature) !== bytesToHex(signature))
    return false;
  await stream.cut(new Error("the same call was made again"));
  return true;
};

/**
 * A stream on its way, which ends with its receipt. Before its first byte leaves, and whenever it is twice as long as it
 * was then, what it is so far is staged: after a crash that is attested. When its reader goes away it ends there, and
 * what left is attested; so is what left when the handler fails, for what that had charged. One root is signed, at the
 * end. `charged` is what the handler charges so far, null for the price.
 */
export const deliveredStream = (
  call: ReservedCall,
  answer: StreamedAnswer,
  charged: () => bigint | null,
): Response => {
  const { context, stored, request, voucher } = call;
  const { store } = context;
  const { escrow } = voucher;
  const reader = answer.stream.getReader();
  const sent = new StreamSoFar(call, answer);
  const price = (): bigint => charged() ?? request.price;
  let stagedLength = 0;
  let isCut = false;
  let isEnded = false;
  let ending: Promise<CallReceipt | null> | null = null;

  const stage = async (delivery: StagedCall): Promise<void> => {
    if (!(await store.stage(delivery))) throw new Error("another process took the session over");
    stagedLength = sent.length;
  };
  const recordedAs = async (delivery: StagedCall): Promise<CallReceipt> => {
    await stage(delivery);
    const receipt = await recorded(context, stored.session, tallyIn(stored), delivery);
    if (receipt === null) throw new Error("another process was quicker");
    return receipt;
  };
  /** Ends the call once, for a price in base units. */
  const end = (units: bigint, isWhole: boolean): Promise<CallReceipt | null> => {
    // A stream of which nothing left is no delivery.
    const isNothing = !isWhole && sent.length === 0;
    ending ??= (
      isNothing ? store.drop(escrow).then(() => null) : recordedAs(sent.delivery(units, isWhole))
    ).then((receipt) => {
      isEnded = true;
      return receipt;
    });
    void ending
      .catch(() => undefined)
      .then(() => streams.get(escrow) === me && streams.delete(escrow));
    return ending;
  };
  /** What is staged stays, and is attested when the session is asked for next. */
  const giveUp = async (cause: unknown): Promise<void> => {
    await reader.cancel(cause).catch(() => undefined);
    if (!isEnded) await store.drop(escrow).catch(() => undefined);
    context.onBroken?.(escrow, cause);
  };

  const next = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    let read: Awaited<ReturnType<typeof reader.read>>;
    try {
      read = await reader.read();
    } catch (cause) {
      if (!isCut) await end(charged() ?? 0n, false);
      throw cause;
    }
    if (isCut) return;
    if (read.done) {
      const receipt = await end(price(), true);
      if (receipt !== null && !isCut) controller.enqueue(receiptEvent(receipt));
      if (!isCut) controller.close();
      return;
    }
    sent.add(read.value);
    if (sent.length >= 2 * stagedLength) await stage(sent.delivery(price(), false));
    if (!isCut) controller.enqueue(read.value);
  };
  let step: Promise<void> = Promise.resolve();
  const cut = async (reason: unknown): Promise<void> => {
    isCut = true;
    await reader.cancel(reason).catch(() => undefined);
    await step;
    await end(price(), false).catch(giveUp);
  };
  const streams = streamsOf(store);
  let sending: ReadableStreamDefaultController<Uint8Array> | null = null;
  const me: RunningStream = {
    voucher,
    cut: (reason) => {
      sending?.error(reason);
      return cut(reason);
    },
  };
  streams.set(escrow, me);
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      sending = controller;
    },
    pull: (controller) => {
      step = next(controller).catch(async (cause: unknown) => {
        await giveUp(cause);
        if (!isCut) controller.error(cause);
      });
      return step;
    },
    cancel: cut,
  });
  return responseOf({ ...answer, body }, RECEIPT_IN_STREAM);
};
