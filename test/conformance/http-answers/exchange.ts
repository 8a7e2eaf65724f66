import type { ServiceOptions } from "../../adapters/http/support/service.ts";
import type { World } from "./world/fixed-world.ts";

/** One request to the fixed world. Its answer is recorded under the operation and the title. */
export type Exchange = {
  /** The `operationId` of the OpenAPI document; `unmatched` for a path that it does not have. */
  readonly operation: string;
  readonly title: string;
  readonly method: string;
  /** Path and query. `{etag}` and `{next_cursor}`, here and in headers, stand for the last ones that were answered. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** The client's IP address; by default a new one for each exchange, with full rate limits. */
  readonly client?: string;
  /** Prepares the world for this request. What it changes is undone after the answer. */
  readonly given?: (world: World) => void | Promise<void>;
  /** As soon as the service sleeps for exactly `forMs` milliseconds, the clock advances by `passMs`. */
  readonly waits?: { readonly forMs: number; readonly passMs: number };
  /** For an endless answer: the number of chunks to read before the client disconnects. */
  readonly chunks?: number;
  /** Patterns whose text differs between two recordings, and what is recorded instead. */
  readonly masks?: ReadonlyArray<readonly [RegExp, string]>;
  /** Makes the text that is recorded instead of a body that depends on the layout of the source files. */
  readonly outline?: (body: string) => string;
  /** The file that holds the body alone. */
  readonly bodyFile?: string;
};

/** Exchanges with one instance of the service, in order. */
export type Scene = {
  readonly name: string;
  /** Settings that differ from those of the fixed world. */
  readonly options?: ServiceOptions;
  /** Whether the index is synced before the first exchange; default true. */
  readonly isSynced?: boolean;
  readonly exchanges: ReadonlyArray<Exchange>;
};

type More = Partial<Omit<Exchange, "operation" | "title" | "path">>;

/** A GET of an operation. */
export const get = (operation: string, title: string, path: string, more: More = {}): Exchange => ({
  operation,
  title,
  method: "GET",
  path,
  headers: {},
  ...more,
});

/** A POST with `content-type: application/json`. Text and bytes are sent as they are, anything else as JSON. */
export const post = (
  operation: string,
  title: string,
  path: string,
  body: unknown,
  more: More = {},
): Exchange => ({
  operation,
  title,
  method: "POST",
  path,
  body:
    typeof body === "string" || body instanceof Uint8Array
      ? (body as string | Uint8Array<ArrayBuffer>)
      : JSON.stringify(body),
  ...more,
  headers: { "content-type": "application/json", ...more.headers },
});
