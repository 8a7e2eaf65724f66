import { concatBytes } from "@noble/hashes/utils.js";
import { RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import { RECEIPT_IN_STREAM, ReceiptSplitter } from "../../../core/protocol/calls/receipt-event.ts";
import { SettlementError } from "../../settlement-error.ts";

/** Where a stream's own bytes go as they come, before its receipt is there. */
export type StreamSink = {
  readonly begin: (status: number, headers: Headers) => void;
  readonly take: (bytes: Uint8Array) => void;
  /** Aborted once its reader wants no more. */
  readonly signal: AbortSignal;
};

/** A sink whose stream is an answer for the caller, which ends when its receipt was taken, or fails with it. */
export type AnswerSink = StreamSink & {
  /** Ends the answer's body; nothing where no stream began. */
  readonly end: () => void;
  readonly fail: (cause: unknown) => void;
};

/** Gives `onStream` an answer as soon as a stream begins. */
export const answerSink = (onStream: (answer: Response) => void): AnswerSink => {
  const cancelling = new AbortController();
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  const give = (use: (to: ReadableStreamDefaultController<Uint8Array>) => void): void => {
    if (controller !== null && !cancelling.signal.aborted) use(controller);
  };
  return {
    begin: (status, headers) => {
      const body = new ReadableStream<Uint8Array>({
        start: (to) => {
          controller = to;
        },
        cancel: () => cancelling.abort(),
      });
      onStream(new Response(body, { status, headers }));
    },
    take: (bytes) => give((to) => to.enqueue(bytes)),
    signal: cancelling.signal,
    end: () => give((to) => to.close()),
    fail: (cause) => give((to) => to.error(cause)),
  };
};

/** Whether an answer's receipt is the last event of its stream. */
export const isStreamed = ({ headers }: Response): boolean =>
  headers.get(RECEIPT_HEADER) === RECEIPT_IN_STREAM;

const cut = (bytes: number, cause?: unknown): SettlementError =>
  new SettlementError(
    "stream_cut",
    `The stream was cut after ${bytes} bytes, before its receipt.`,
    "Make the same call again: it is not paid twice, and its answer is what left the seller, from the first event on.",
    cause === undefined ? {} : { cause },
  );

/**
 * Reads a stream to its receipt, and gives its own bytes to the sink as they come. Then it is like any other answer:
 * the receipt is in the headers, the body without it. @throws SettlementError `stream_cut` for one without a receipt
 */
export const streamedAnswer = async (
  response: Response,
  mostBytes: number,
  sink?: StreamSink,
): Promise<{ readonly headers: Headers; readonly body: Uint8Array }> => {
  const headers = new Headers(response.headers);
  headers.delete(RECEIPT_HEADER);
  sink?.begin(response.status, new Headers(headers));
  const reader = response.body?.getReader();
  const splitter = new ReceiptSplitter();
  const parts: Array<Uint8Array> = [];
  let length = 0;
  const take = (bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    length += bytes.length;
    if (length > mostBytes) throw new Error(`the stream has more than ${mostBytes} bytes`);
    parts.push(bytes);
    sink?.take(bytes.slice());
  };
  const stop = (): void => void reader?.cancel().catch(() => undefined);
  sink?.signal.addEventListener("abort", stop);
  try {
    for (;;) {
      const { done, value } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) break;
      take(splitter.take(value));
    }
  } catch (cause) {
    stop();
    throw cut(length, cause);
  } finally {
    sink?.signal.removeEventListener("abort", stop);
  }
  const receipt = splitter.end();
  if (receipt === null) throw cut(length);
  headers.set(RECEIPT_HEADER, receipt);
  return { headers, body: concatBytes(...parts) };
};
