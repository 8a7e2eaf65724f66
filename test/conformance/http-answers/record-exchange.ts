import { RELAY_POLICY } from "../../../core/domain/relay/relay-policy.ts";
import { REQUEST_ID } from "./answer-text.ts";
import type { Exchange } from "./exchange.ts";
import type { World } from "./world/fixed-world.ts";

/** A request as sent, and all of its answer that reaches a client. */
export type Recorded = {
  readonly exchange: Exchange;
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly status: number;
  /** Sorted by name. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>;
  readonly body: string;
};

/** Values of earlier answers in the scene that later requests use. */
type Seen = { readonly etag: string; readonly next_cursor: string };

const filled = (text: string, seen: Seen): string =>
  text.replace(/\{(etag|next_cursor)\}/g, (_, name: keyof Seen) => seen[name]);

const cursorIn = (body: string): string | undefined => /"next_cursor":"([^"]*)"/.exec(body)?.[1];

/** The first `count` chunks of an endless body; the client then disconnects. `wake` runs before the last one. */
const firstChunks = async (
  response: Response,
  count: number,
  wake: () => Promise<void>,
): Promise<string> => {
  const reader = response.body?.getReader();
  if (reader === undefined) throw new Error("there is no stream");
  const utf8 = new TextDecoder();
  let text = "";
  for (let at = 1; at <= count; at++) {
    const chunk = reader.read();
    if (at === count) await wake();
    text += utf8.decode((await chunk).value);
  }
  await reader.cancel();
  return text;
};

/** A function that sends the exchanges of one scene in order and returns each with its answer. */
export const recorder = (world: World) => {
  let seen: Seen = { etag: "no etag was seen", next_cursor: "no next_cursor was seen" };

  return async (exchange: Exchange, client: string): Promise<Recorded> => {
    const path = filled(exchange.path, seen);
    const requestHeaders = Object.fromEntries(
      Object.entries({ "x-request-id": REQUEST_ID, ...exchange.headers })
        .map(([name, value]) => [name, filled(value, seen)] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
    await exchange.given?.(world);
    world.forgetWaits();
    const { waits } = exchange;
    const wake = async (): Promise<void> => {
      if (waits !== undefined) await world.passOnce(waits.forMs, waits.passMs);
    };
    const request = new Request(`http://localhost${path}`, {
      method: exchange.method,
      headers: requestHeaders,
      ...(exchange.body === undefined ? {} : { body: exchange.body }),
    });
    const answer = world.app.handle(request, {
      address: exchange.client ?? client,
      allowSeconds: () => undefined,
    });
    if (exchange.chunks === undefined) await wake();
    // A relay that waits for a confirmation looks for it after this time.
    if (waits === undefined) await world.passEach(RELAY_POLICY.confirmPollMs, answer);
    const response = await answer;
    const body =
      exchange.chunks === undefined
        ? await response.text()
        : await firstChunks(response, exchange.chunks, wake);
    world.restore();
    seen = {
      etag: response.headers.get("etag") ?? seen.etag,
      next_cursor: cursorIn(body) ?? seen.next_cursor,
    };
    const headers = [...response.headers].sort(([a], [b]) => (a < b ? -1 : 1));
    return { exchange, path, requestHeaders, status: response.status, headers, body };
  };
};
