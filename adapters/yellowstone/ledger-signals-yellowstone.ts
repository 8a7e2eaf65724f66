import { Data, Effect, Layer, Queue, Redacted, Stream } from "effect";
import { type Address, addressFromBytes } from "../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { reconnect } from "../../core/use-cases/reconnect.ts";
import type { Commitment } from "../../ports/ledger/ledger.ts";
import {
  type LedgerSignal,
  LedgerSignals,
  type SignalSource,
} from "../../ports/ledger/ledger-signals.ts";
import {
  geyserStream,
  programOfFilter,
  type SubscribeUpdate,
  subscriptionTo,
} from "./geyser-stream.ts";

/** The file of the access token cannot be used. */
export class AccessTokenUnusable extends Data.TaggedError("AccessTokenUnusable")<{
  readonly reason: string;
}> {}

/** gRPC metadata takes printable ASCII only. */
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

/** The access token in a file, without white space around it. Fails when the file cannot be read or holds no token. */
export const readAccessToken = (
  path: string,
): Effect.Effect<Redacted.Redacted, AccessTokenUnusable> =>
  Effect.tryPromise({
    try: () => Bun.file(path).text(),
    catch: () => new AccessTokenUnusable({ reason: "its file cannot be read" }),
  }).pipe(
    Effect.flatMap((text) =>
      TOKEN.test(text.trim())
        ? Effect.succeed(Redacted.make(text.trim()))
        : Effect.fail(
            new AccessTokenUnusable({
              reason: "its file does not hold one line of printable ASCII",
            }),
          ),
    ),
  );

const told = (
  signature: Uint8Array | undefined,
  slot: string | undefined,
  names: Address | undefined,
): LedgerSignal =>
  signature?.length === 64 && slot !== undefined && names !== undefined
    ? { signature: ledgerSignatureFromBytes(signature), slot: BigInt(slot), names }
    : null;

/** The slot of an update; null for one of no slot. */
export const slotOf = (update: SubscribeUpdate): bigint | null => {
  const slot = (update.slot ?? update.account ?? update.transaction_status)?.slot;
  return slot === undefined ? null : BigInt(slot);
};

/**
 * The signals in an update: one for each program that its transaction names, null where the update does not say which
 * transaction or program it was. None for slots, pings, accounts of other owners and transactions that failed.
 */
export const signalsOf = (
  update: SubscribeUpdate,
  programs: ReadonlyArray<Address>,
): ReadonlyArray<LedgerSignal> => {
  const { account, transaction_status: transaction, filters } = update;
  if (account !== undefined) {
    const bytes = account.account?.owner;
    const owner = bytes?.length === 32 ? addressFromBytes(bytes) : undefined;
    if (owner === undefined) return [null];
    // Startup updates are a node's load of its snapshot, not changes.
    if (account.is_startup === true || !programs.includes(owner)) return [];
    return [told(account.account?.txn_signature, account.slot, owner)];
  }
  if (transaction === undefined || (transaction.err ?? null) !== null) return [];
  const named = filters
    .map((filter) => programOfFilter(filter, programs))
    .filter((program) => program !== undefined);
  return named.length === 0
    ? [null]
    : named.map((program) => told(transaction.signature, transaction.slot, program));
};

/** Signals that may wait for their reader. Others are lost, and their transactions are left to the history. */
const BUFFERED = 1024;

/** A Yellowstone gRPC server, and the programs whose accounts and transactions are signals. */
export type YellowstoneSource = {
  /** An http or https address without path. It holds no secret. */
  readonly url: URL;
  /** The file of the `x-token`, read at each connection; null for a server that asks for none. */
  readonly tokenFile: string | null;
  readonly programs: ReadonlyArray<Address>;
  /** Whether to tell of changes once they are confirmed, or once they are final. */
  readonly commitment: Commitment;
};

/** Where a source notes how it stands. */
type Noted = { isLive: boolean; isSilent: boolean; failures: number };

/** Listens for ever, each stream from the slot that the last one showed. */
const listen = (
  { url, tokenFile, programs, commitment }: YellowstoneSource,
  noted: Noted,
  signal: (told: LedgerSignal) => void,
) => {
  let heardTo: bigint | null = null;
  const stream = Effect.gen(function* () {
    const token = tokenFile === null ? null : yield* readAccessToken(tokenFile);
    const subscription = subscriptionTo(programs, heardTo, commitment);
    // A server may refuse a slot that it does not hold. A stream that shows no slot is not resumed.
    heardTo = null;
    let isOpen = false;
    return yield* geyserStream(url, token, subscription, (update) => {
      // Changes may have been missed while no stream was open, because a server may ignore the slot.
      if (!isOpen) signal(null);
      isOpen = true;
      noted.isLive = true;
      noted.failures = 0;
      heardTo = slotOf(update) ?? heardTo;
      for (const told of signalsOf(update, programs)) signal(told);
    });
  }).pipe(
    Effect.catchTag("AccessTokenUnusable", ({ reason }) =>
      Effect.succeed(`the access token: ${reason}`),
    ),
  );
  return reconnect(stream, ({ reason, failures, pauseMs }) => {
    noted.isLive = false;
    noted.failures += 1;
    const fields = { server: url.host, reason, pauseMs };
    // One failure is usual: servers end healthy streams. A second one is possible: the server refuses the slot. The
    // third in a row needs the operator.
    return failures === 3
      ? Effect.logWarning("no pushed signals from the ledger; syncs go on by interval", fields)
      : Effect.logDebug("no pushed signals from the ledger", fields);
  });
};

/** A source of signals over Yellowstone gRPC's `Subscribe`. */
export const yellowstoneSignals = (source: YellowstoneSource): SignalSource => {
  const noted: Noted = { isLive: false, isSilent: false, failures: 0 };
  return {
    changes: Stream.callback<LedgerSignal>(
      (queue) => listen(source, noted, (told) => void Queue.offerUnsafe(queue, told)),
      { bufferSize: BUFFERED, strategy: "dropping" },
    ),
    standing: Effect.sync(() => ({ ...noted })),
  };
};

/** The LedgerSignals port over Yellowstone gRPC's `Subscribe`. */
export const ledgerSignalsYellowstone = (
  source: Omit<YellowstoneSource, "commitment">,
): Layer.Layer<LedgerSignals> =>
  Layer.sync(LedgerSignals, () => yellowstoneSignals({ ...source, commitment: "finalized" }));
