import { Effect, Layer, Queue, Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { reconnect } from "../../core/use-cases/reconnect.ts";
import { type LedgerSignal, LedgerSignals } from "../../ports/ledger/ledger-signals.ts";
import { readAccessToken } from "./access-token.ts";
import { geyserStream } from "./geyser-stream.ts";
import { signalsOf, slotOf } from "./signals-of-update.ts";
import { subscriptionTo } from "./subscription.ts";

/** Signals that may wait for their reader. Others are lost, and their transactions are left to the history. */
const BUFFERED = 1024;

/** A Yellowstone gRPC server, and the programs whose accounts and transactions are signals. */
export type YellowstoneSource = {
  /** An http or https address without path. It holds no secret. */
  readonly url: URL;
  /** The file of the `x-token`, read at each connection; null for a server that asks for none. */
  readonly tokenFile: string | null;
  readonly programs: ReadonlyArray<Address>;
};

/** Listens for ever, each stream from the slot that the last one showed. */
const listen = (
  { url, tokenFile, programs }: YellowstoneSource,
  signal: (told: LedgerSignal) => void,
) => {
  let heardTo: bigint | null = null;
  const stream = Effect.gen(function* () {
    const token = tokenFile === null ? null : yield* readAccessToken(tokenFile);
    const subscription = subscriptionTo(programs, heardTo);
    // A server may refuse a slot that it does not hold. A stream that shows no slot is not resumed.
    heardTo = null;
    let isOpen = false;
    return yield* geyserStream(url, token, subscription, (update) => {
      // Something may have happened while there was no stream, and a server may ignore the slot.
      if (!isOpen) signal(null);
      isOpen = true;
      heardTo = slotOf(update) ?? heardTo;
      for (const told of signalsOf(update, programs)) signal(told);
    });
  }).pipe(
    Effect.catchTag("AccessTokenUnusable", ({ reason }) =>
      Effect.succeed(`the access token: ${reason}`),
    ),
  );
  return reconnect(stream, ({ reason, failures, pauseMs }) => {
    const fields = { server: url.host, reason, pauseMs };
    // Servers end good streams, and may refuse the slot after that. A third failure in a row needs the operator.
    return failures === 3
      ? Effect.logWarning("no pushed signals from the ledger; syncs go on by interval", fields)
      : Effect.logDebug("no pushed signals from the ledger", fields);
  });
};

/** The LedgerSignals port over Yellowstone gRPC's `Subscribe`. */
export const ledgerSignalsYellowstone = (source: YellowstoneSource): Layer.Layer<LedgerSignals> =>
  Layer.succeed(LedgerSignals, {
    changes: Stream.callback<LedgerSignal>(
      (queue) => listen(source, (told) => void Queue.offerUnsafe(queue, told)),
      { bufferSize: BUFFERED, strategy: "dropping" },
    ),
  });
