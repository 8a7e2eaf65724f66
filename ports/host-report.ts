import { Context, Effect } from "effect";

/** One store of this service. */
export type StoreReport = {
  readonly name: "index" | "relay" | "packets" | "database";
  readonly kind: "sqlite" | "postgres";
  /** Bytes that it takes; null where it is not there yet, or elsewhere. */
  readonly bytes: number | null;
  /** The version of its schema; null where it has none. */
  readonly schema: number | null;
};

/** The machine as this process sees it. */
export type HostReport = {
  readonly stores: ReadonlyArray<StoreReport>;
  /** The resident set, bytes. */
  readonly residentBytes: number;
  /** Of the file system that holds the data directory; null where it does not say. */
  readonly disk: { readonly freeBytes: number; readonly sizeBytes: number } | null;
};

/** What the process takes of its machine; null where nobody looks. Never fails. */
export const HostReports = Context.Reference<Effect.Effect<HostReport | null>>(
  "settlement-evidence/ports/HostReports",
  { defaultValue: () => Effect.succeed(null) },
);
