import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { Cause, Effect, Exit, type Redacted } from "effect";
import {
  dumpStore,
  inspectDatabase,
  PostgresToolFailed,
  restoreDumps,
} from "../../adapters/postgres/dump-store.ts";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { BackupRefused } from "./backup-refused.ts";
import { syncFile } from "./manifest.ts";
import type { RestoreDumps } from "./restore-backup.ts";
import type { DumpDatabase } from "./take-backup.ts";

/** The name of a database's dump in a backup: of all but the webhooks in the data's, of these in that of the keys. */
export const DUMP_FILE = "database.dump";

const refusalOf = (failure: StoreUnavailable | PostgresToolFailed): BackupRefused => {
  if (failure instanceof PostgresToolFailed)
    return failure.reason === null
      ? new BackupRefused(
          "postgres_tools_missing",
          `${failure.program} is not on PATH`,
          "Install PostgreSQL's client of the server's version or a newer one (Debian: apt-get install postgresql-client)",
        )
      : new BackupRefused(
          "database_refused",
          `${failure.program} failed: ${failure.reason}`,
          "Mend that, and run this command again",
        );
  return new BackupRefused(
    "database_refused",
    failure.message.replace(/\.$/, ""),
    "Mend that, and run this command again",
  );
};

const done = async <A>(
  work: Effect.Effect<A, StoreUnavailable | PostgresToolFailed>,
): Promise<A> => {
  const exit = await Effect.runPromiseExit(work);
  if (Exit.isSuccess(exit)) return exit.value;
  const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
  throw failure === undefined ? Cause.squash(exit.cause) : refusalOf(failure);
};

/** Dumps the database at an address. */
export const dumpOf =
  (address: Redacted.Redacted<URL>): DumpDatabase =>
  async (folder, holds) => {
    const file = join(folder, DUMP_FILE);
    if (!(await done(inspectDatabase(address))).hasStore)
      throw new BackupRefused(
        "nothing_to_back_up",
        "the database has no store of this service",
        "Correct DATABASE_URL, or start the service first",
      );
    const { schema, dumpedBy, version, identity, standing } = await done(
      dumpStore(address, file, holds),
    );
    await chmod(file, 0o600);
    await syncFile(file);
    const database = { schema, dumped_by: dumpedBy };
    return { database, ledger: identity, schema: version, standing };
  };

/**
 * Restores dumps of a schema into the database at an address, one after the other. The schema must not be there, and is
 * not there afterwards where one of them fails.
 */
export const restoreInto =
  (address: Redacted.Redacted<URL>): RestoreDumps =>
  async (files, schema) => {
    const target = await done(inspectDatabase(address));
    if (target.schema !== schema)
      throw new BackupRefused(
        "database_refused",
        `the dump is of the schema ${schema}, and DATABASE_URL names ${target.schema}`,
        `Add ?schema=${schema} to DATABASE_URL`,
      );
    if (target.hasSchema)
      throw new BackupRefused(
        "target_not_empty",
        `the database has the schema ${schema} already`,
        `Name another database, or drop the schema: DROP SCHEMA "${schema}" CASCADE`,
      );
    await done(restoreDumps(address, files));
  };
