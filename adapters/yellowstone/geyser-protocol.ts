import { fileURLToPath } from "node:url";
import type { MethodDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

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
  readonly commitment?: "FINALIZED";
  readonly accounts_data_slice?: ReadonlyArray<{
    readonly offset: string;
    readonly length: string;
  }>;
  readonly from_slot?: string;
  readonly ping?: { readonly id: number };
};

/** What a server pushes. A field that has its default value (0, no bytes, false) may be absent. u64 values are decimal text. */
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
