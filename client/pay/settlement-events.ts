import { dataBy, requestOf } from "../service/operation.ts";
import type { Requests } from "../service/requests.ts";

/** Listens for events of one escrow. It only wakes the caller, who then reads the escrow. */
export type SettlementEvents = {
  /** Resolves when the escrow has had an event since the last call. */
  readonly next: () => Promise<void>;
  readonly stop: () => void;
};

const RECONNECT_MS = 2_000;
/** More than any event, in characters. */
const MOST_LINE = 65_536;

/** The lines of a body as they arrive. @throws Error for a line that is longer than any event */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const part of body) {
    const lines = (rest + decoder.decode(part, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MOST_LINE) throw new Error(`a line has more than ${MOST_LINE} characters`);
    yield* lines;
  }
}

/**
 * Follows the service's event stream for one escrow's events, from now on. A broken stream is resumed after the
 * last id (WHATWG HTML, section 9.2, `Last-Event-ID`). Never fails. Without a stream it is silent, and the caller reads
 * at intervals.
 */
export const settlementEvents = (
  requests: Requests,
  escrow: string,
  signal?: AbortSignal,
): SettlementEvents => {
  const ended = new AbortController();
  const both = signal === undefined ? ended.signal : AbortSignal.any([signal, ended.signal]);
  let pending = false;
  let wake: (() => void) | null = null;
  const ring = (): void => {
    pending = true;
    wake?.();
  };

  const follow = async (): Promise<void> => {
    const operation = "GET /v1/escrows/{pda}";
    const live = await dataBy(requests, operation, { pda: escrow }, { signal: both });
    const { agent_owner, merchant } = live;
    const [path] = requestOf("GET /v1/indexer/events/stream", { agent_owner, merchant });
    let last: string | null = null;
    for (;;) {
      both.throwIfAborted();
      const headers: Record<string, string> = last === null ? {} : { "last-event-id": last };
      const response = await requests.stream(path, { headers, signal: both }).catch(() => null);
      // Events between two streams without an id are found by the caller's reads.
      if (last === null) ring();
      try {
        for await (const line of response?.body ? linesOf(response.body) : []) {
          if (line.startsWith("id: ")) last = line.slice(4).trim();
          if (line.startsWith("data: ") && line.includes(escrow)) ring();
        }
      } catch {
        // The stream broke and is resumed.
      }
      await requests.clock.pause(RECONNECT_MS, both);
    }
  };
  void follow().catch(() => undefined);

  return {
    next: () =>
      new Promise((resolve) => {
        wake = () => {
          pending = false;
          wake = null;
          resolve();
        };
        if (pending) wake();
      }),
    stop: () => ended.abort(),
  };
};
