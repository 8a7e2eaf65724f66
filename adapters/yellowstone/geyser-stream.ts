import {
  Client,
  type ClientDuplexStream,
  credentials,
  Metadata,
  type MethodDefinition,
  status,
} from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { Effect, Redacted } from "effect";
import { fileURLToPath } from "node:url";
import type { Address } from "../../core/domain/address.ts";
import type { Commitment } from "../../ports/ledger/ledger.ts";

type Filters<F> = Readonly<Record<string, F>>;

/** What a client asks for, or a ping. u64 values are decimal text. */
export type SubscribeRequest = {
  readonly accounts?: Filters<{ readonly owner: ReadonlyArray<string> }>;
  readonly slots?: Filters<{ readonly filter_by_commitment: boolean }>;
  readonly transactions_status?: Filters<{
    readonly vote: boolean;
    readonly failed: boolean;
    readonly account_include: ReadonlyArray<string>;
  }>;
  readonly commitment?: "CONFIRMED" | "FINALIZED";
  readonly accounts_data_slice?: ReadonlyArray<{
    readonly offset: string;
    readonly length: string;
  }>;
  readonly from_slot?: string;
  readonly ping?: { readonly id: number };
};

/**
 * What a server pushes. A field that has its default value (0, no bytes, false) may be absent. u64 values are decimal
 * text.
 */
export type SubscribeUpdate = {
  /** Names of the filters that the update matches. */
  readonly filters: ReadonlyArray<string>;
  readonly account?: {
    readonly account?: { readonly owner?: Uint8Array; readonly txn_signature?: Uint8Array };
    readonly slot?: string;
    readonly is_startup?: boolean;
  };
  readonly slot?: { readonly slot?: string };
  readonly transaction_status?: {
    readonly slot?: string;
    readonly signature?: Uint8Array;
    readonly err?: { readonly err?: Uint8Array };
  };
  readonly ping?: Readonly<Record<string, never>>;
  readonly pong?: { readonly id?: number };
};

const PATH = fileURLToPath(new URL("./proto/geyser.proto", import.meta.url));

const service = loadSync(PATH, { keepCase: true, longs: String, enums: String, arrays: true })[
  "geyser.Geyser"
];

/** The method `Subscribe` of `geyser.Geyser`: a stream of requests, answered by a stream of updates. */
export const SUBSCRIBE = (
  service as unknown as {
    readonly Subscribe: MethodDefinition<SubscribeRequest, SubscribeUpdate>;
  }
).Subscribe;

/**
 * A filter's name has at most 32 bytes (yellowstone-grpc-geyser, `filter_name_size_limit`), so an address may not fit.
 */
const TRANSACTIONS = "transactions-";

/**
 * A subscription, at `finalized` by default, to accounts that the programs own, without their data, to transactions that name a
 * program and did not fail, and to slots, which show how far the stream has come. `fromSlot` asks for what came since
 * that slot, inclusive; null for none.
 */
export const subscriptionTo = (
  programs: ReadonlyArray<Address>,
  fromSlot: bigint | null,
  commitment: Commitment = "finalized",
): SubscribeRequest => ({
  accounts: { accounts: { owner: programs } },
  accounts_data_slice: [{ offset: "0", length: "0" }],
  transactions_status: Object.fromEntries(
    programs.map((program, at) => [
      `${TRANSACTIONS}${at}`,
      { vote: false, failed: false, account_include: [program] },
    ]),
  ),
  slots: { slots: { filter_by_commitment: true } },
  commitment: commitment === "confirmed" ? "CONFIRMED" : "FINALIZED",
  ...(fromSlot === null ? {} : { from_slot: fromSlot.toString() }),
});

/** The program whose transactions a filter of the subscription selects; undefined for any other filter. */
export const programOfFilter = (
  filter: string,
  programs: ReadonlyArray<Address>,
): Address | undefined => programs.find((_program, at) => filter === `${TRANSACTIONS}${at}`);

/** A message may hold an account. The programs' own accounts have under 1 KiB, and their data is not asked for. */
const MOST_BYTES = 1 << 20;
/** A stream without any message for this long, even to a ping, is dead. */
const QUIET_MS = 30_000;
/** The text of a server's refusal, in characters, as the log shows it. */
const MOST_DETAIL = 200;

const PING: SubscribeRequest = { ping: { id: 1 } };

type Call = ClientDuplexStream<SubscribeRequest, SubscribeUpdate>;

/** Decodes an update. Invalid bytes give an empty update, so that one bad message does not end the stream. */
const decode = (bytes: Buffer): SubscribeUpdate => {
  try {
    return SUBSCRIBE.responseDeserialize(bytes);
  } catch {
    return { filters: [] };
  }
};

const open = (url: URL, token: Redacted.Redacted | null, subscription: SubscribeRequest) => {
  const isTls = url.protocol === "https:";
  const client = new Client(
    `${url.hostname}:${url.port === "" ? (isTls ? 443 : 80) : url.port}`,
    isTls ? credentials.createSsl() : credentials.createInsecure(),
    {
      "grpc.max_receive_message_length": MOST_BYTES,
      "grpc.enable_retries": 0,
      // A shared pool would add its own backoff to that of the reconnects.
      "grpc.use_local_subchannel_pool": 1,
    },
  );
  const metadata = new Metadata();
  if (token !== null) metadata.set("x-token", Redacted.value(token));
  const call: Call = client.makeBidiStreamRequest(
    SUBSCRIBE.path,
    SUBSCRIBE.requestSerialize,
    decode,
    metadata,
  );
  // Cancelling makes the stream emit an error. It is ignored.
  call.on("error", () => {});
  call.write(subscription);
  return { client, call };
};

/** A ping, unless the server reads so slowly that requests wait: they must not pile up. */
const ping = (call: Call): void => {
  if (!call.writableNeedDrain) call.write(PING);
};

/**
 * One stream until it is lost or dead. Calls `hear` with each update, an empty one for bytes that cannot be decoded,
 * and answers the server's pings. Returns why it ended, as a text for the log.
 */
export const geyserStream = (
  url: URL,
  token: Redacted.Redacted | null,
  subscription: SubscribeRequest,
  hear: (update: SubscribeUpdate) => void,
): Effect.Effect<string> =>
  Effect.acquireUseRelease(
    Effect.sync(() => open(url, token, subscription)),
    ({ call }) => {
      let heard = false;
      const lost = Effect.callback<string>((resume) => {
        call.on("data", (update: SubscribeUpdate) => {
          heard = true;
          if (update.ping !== undefined) ping(call);
          hear(update);
        });
        call.on("status", ({ code, details }) =>
          resume(Effect.succeed(`${status[code]} ${details.slice(0, MOST_DETAIL)}`.trim())),
        );
      });
      const dead = Effect.gen(function* () {
        do {
          heard = false;
          ping(call);
          yield* Effect.sleep(QUIET_MS);
        } while (heard);
        return `nothing was heard for ${QUIET_MS / 1000} s`;
      });
      return Effect.raceFirst(lost, dead);
    },
    ({ client, call }) =>
      Effect.sync(() => {
        call.cancel();
        client.close();
      }),
  );
