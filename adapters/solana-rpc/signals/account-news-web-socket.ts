import { Layer, Queue, type Redacted, Schema, Stream } from "effect";
import { type AccountTold, AccountNews } from "../../../ports/ledger/account-news.ts";
import { parseAccounts } from "../accounts/account-json.ts";
import { listenToNode, notListening } from "./node-web-socket.ts";

/** The result of an accountNotification (Agave `rpc-client-types`, `Response<UiAccount>`). */
const isChange = Schema.is(Schema.Struct({ value: Schema.Unknown }));

/** News that may wait for their reader. Of more the oldest are dropped: a newer state says more. */
const BUFFERED = 16;

/** The AccountNews port over a node's `accountSubscribe` at `finalized`. The address may hold an API key. */
export const accountNewsWebSocket = (url: Redacted.Redacted<URL>): Layer.Layer<AccountNews> =>
  Layer.succeed(AccountNews, {
    of: (address) =>
      Stream.callback<AccountTold>(
        (queue) => {
          const tell = (told: AccountTold): void => void Queue.offerUnsafe(queue, told);
          const subscriptions = {
            url,
            kind: "account",
            params: [[address, { encoding: "base64", commitment: "finalized" }]],
            without: "the node is read every two seconds",
          };
          return listenToNode(subscriptions, notListening(), {
            opened: () => undefined,
            taken: () => tell({ kind: "taken" }),
            pushed: () => tell({ kind: "pushed" }),
            notified: (told) => {
              const value = told !== null && isChange(told.result) ? told.result.value : null;
              const [account = null] = parseAccounts([address], [value]) ?? [];
              tell({ kind: "changed", account });
            },
            lost: () => tell({ kind: "lost" }),
          });
        },
        { bufferSize: BUFFERED, strategy: "sliding" },
      ),
  });
