import { dataBy, requestOf } from "../service/operation.ts";
import type { Requests } from "../service/requests.ts";

/** Listens for events of one escrow. It only wakes the caller, who then reads the escrow. */
export type SettlementEvents = {
  /** Resolves when the escrow has had an event since the last call. */
  readonly next: () => Promise<void>;
  readonly stop: () => void;
};

/** What the ledger has confirmed of an escrow and may still undo. */
export type SettlementNews = {
  /** `retracted`: a fork undid what was told as `confirmed`. */
  readonly finality: "confirmed" | "retracted";
  /** The state that the event led to, or would have. */
  readonly state: "Fulfilled" | "PartiallyFulfilled" | "Refunded";
};

const STATES: ReadonlySet<unknown> = new Set<SettlementNews["state"]>([
  "Fulfilled",
  "PartiallyFulfilled",
  "Refunded",
]);

/** The news in an event of the stream; null in a final one, in a creation and in what is none. */
const newsIn = (data: string): SettlementNews | null => {
  try {
    const { finality, state } = JSON.parse(data) as Partial<SettlementNews>;
    const isNews = (finality === "confirmed" || finality === "retracted") && STATES.has(state);
    return isNews && state !== undefined ? { finality, state } : null;
  } catch {
    return null;
  }
};

/** Whether the stream tells an event before it is final. */
const isEarly = (data: string): boolean => /"finality":"(confirmed|retracted)"/.test(data);

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

/** What a stream is asked for. */
type StreamQuery = {
  readonly merchant: string;
  readonly agent_owner?: string;
  readonly commitment?: "confirmed";
};

/**
 * Follows the service's event stream, from now on. Calls `hear` with the JSON text of each event, and `joined` whenever
 * a stream without a last id begins, where events before it may have been missed. A broken stream is resumed after the
 * last id (WHATWG HTML, section 9.2, `Last-Event-ID`). Ends, by a rejection, with the signal alone.
 */
export const followStream = async (
  requests: Requests,
  query: StreamQuery,
  { hear, joined }: { readonly hear: (data: string) => void; readonly joined: () => void },
  signal: AbortSignal,
): Promise<never> => {
  const [path] = requestOf("GET /v1/indexer/events/stream", query);
  let last: string | null = null;
  for (;;) {
    signal.throwIfAborted();
    const headers: Record<string, string> = last === null ? {} : { "last-event-id": last };
    const response = await requests.stream(path, { headers, signal }).catch(() => null);
    if (last === null) joined();
    try {
      for await (const line of response?.body ? linesOf(response.body) : []) {
        if (line.startsWith("id: ")) last = line.slice(4).trim();
        if (line.startsWith("data: ")) hear(line.slice(6));
      }
    } catch {
      // The stream broke and is resumed.
    }
    await requests.clock.pause(RECONNECT_MS, signal);
  }
};

/**
 * Follows the service's event stream for one escrow's events, from now on. With `onNews` it also hears what is confirmed, and
 * tells it without waking the caller. Never fails. Without a stream it is silent, and the caller reads at intervals.
 */
export const settlementEvents = (
  requests: Requests,
  escrow: string,
  signal?: AbortSignal,
  onNews?: (news: SettlementNews) => void,
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
    const hear = (data: string) => {
      if (!data.includes(escrow)) return;
      if (!isEarly(data)) return ring();
      const news = newsIn(data);
      if (news !== null) onNews?.(news);
    };
    const commitment = onNews === undefined ? {} : ({ commitment: "confirmed" } as const);
    // Events between two streams without an id are found by the caller's reads.
    await followStream(
      requests,
      { agent_owner, merchant, ...commitment },
      { hear, joined: ring },
      both,
    );
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
