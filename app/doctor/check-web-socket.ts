import { Duration, Effect, Redacted } from "effect";
import { redactedRpcAddress } from "../../adapters/solana-rpc/transport/rpc-failure.ts";
import type { Address } from "../../core/domain/address.ts";
import { Problem } from "./finding.ts";

/** How long a node may take to the first notification of a slot, which comes every 0.4 s. */
const NOTIFIED_WITHIN = Duration.seconds(5);

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly error?: { readonly message?: unknown };
};

const parse = (data: unknown): Message => {
  try {
    return JSON.parse(String(data)) as Message;
  } catch {
    return {};
  }
};

/** What came of a connection: a notification, an error in words, or the end. */
type Outcome = { readonly notified: true } | { readonly fault: string };

/** The requests that subscribe to the programs' transactions, as the service does, and to slots. */
const subscriptionsTo = (programs: ReadonlyArray<Address>): ReadonlyArray<string> =>
  [
    ...programs.map((program) => ({
      method: "logsSubscribe",
      params: [{ mentions: [program] }, { commitment: "finalized" }],
    })),
    { method: "slotSubscribe", params: [] },
  ].map((each, at) => JSON.stringify({ jsonrpc: "2.0", id: at + 1, ...each }));

const connection = (url: URL, programs: ReadonlyArray<Address>, heard: { taken: number }) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new WebSocket(url)),
    (socket) =>
      Effect.callback<Outcome>((resume) => {
        const end = (outcome: Outcome) => resume(Effect.succeed(outcome));
        socket.addEventListener("error", () => end({ fault: "it cannot be reached" }));
        socket.addEventListener("close", () => end({ fault: "it ended the connection" }));
        socket.addEventListener("open", () => {
          for (const text of subscriptionsTo(programs)) socket.send(text);
        });
        let isNotified = false;
        socket.addEventListener("message", ({ data }) => {
          const { id, method, error } = parse(data);
          if (error !== undefined)
            end({ fault: `it refuses a subscription: ${String(error.message)}` });
          else if (id !== undefined) heard.taken += 1;
          if (method === "slotNotification") isNotified = true;
          if (isNotified && heard.taken > programs.length) end({ notified: true });
        });
      }),
    (socket) => Effect.sync(() => socket.close()),
  );

/**
 * Subscribes as the service does and awaits one notification of a slot. Fails with a `Problem`: the service works
 * without signals, but its index then follows the ledger by interval only.
 */
export const checkWebSocket = Effect.fnUntraced(function* (
  address: Redacted.Redacted<URL>,
  programs: ReadonlyArray<Address>,
) {
  const url = Redacted.value(address);
  const heard = { taken: 0 };
  const outcome = yield* connection(url, programs, heard).pipe(
    Effect.timeoutOrElse({
      duration: NOTIFIED_WITHIN,
      orElse: () =>
        Effect.succeed<Outcome>({
          fault:
            heard.taken > programs.length
              ? "it takes subscriptions and notifies of nothing within 5 s"
              : "it does not take the subscriptions within 5 s",
        }),
    }),
  );
  const shown = redactedRpcAddress(url);
  if ("notified" in outcome) return `${shown} takes the subscriptions and notifies`;
  return yield* new Problem({
    message: `${shown}: ${outcome.fault}; check SOLANA_WS_URL. Without signals the index follows the ledger every SYNC_INTERVAL_SECONDS`,
    isUnavailable: true,
  });
});
