import type { Database } from "bun:sqlite";

/**
 * A number that another connection's commit changes (sqlite.org/pragma.html, "data_version"), whatever process
 * it is of. For a connection that writes nothing itself, since its own commits do not count.
 */
export const storeRevision = (reader: Database): (() => bigint) => {
  const version = reader.query<{ data_version: bigint }, []>("PRAGMA data_version");
  return () => {
    const row = version.get();
    if (row === null) throw new Error("PRAGMA data_version answers with a row");
    return row.data_version;
  };
};
