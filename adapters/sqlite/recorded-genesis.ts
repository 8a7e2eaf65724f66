import { existsSync } from "node:fs";
import { Effect } from "effect";
import { storedIdentity } from "./ledger-identity.ts";
import { openReader } from "./open-store.ts";
import { attempt } from "./store-failure.ts";

/**
 * The genesis hash that a store's file has recorded; null where there is no file, nobody has claimed it or it cannot be
 * read. Opening the store tells why it cannot be used.
 */
export const recordedGenesis = (path: string): Effect.Effect<string | null> =>
  Effect.suspend(() => (existsSync(path) ? openReader(path) : Effect.succeed(null))).pipe(
    Effect.flatMap((db) => attempt(() => (db === null ? null : storedIdentity(db)))),
    Effect.map((stored) => stored?.genesis_hash ?? null),
    Effect.orElseSucceed(() => null),
    Effect.scoped,
  );
