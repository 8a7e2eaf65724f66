import { SQL } from "bun";
import type { Queries } from "./queries.ts";

/** Runs work on one connection, or each of its statements on any. */
type Work = <A>(work: (sql: Queries) => Promise<A>) => Promise<A>;

/** The connections to one schema. */
export type Connections = {
  /** Whether DATABASE_URL is a pooler that gives each transaction another session (PgBouncer, `pool_mode`). */
  readonly isPooled: boolean;
  /** Runs statements, each by itself; behind a pooler in one transaction. */
  readonly run: Work;
  /** Runs statements in one transaction, which what fails undoes. */
  readonly transaction: Work;
  /** The client that can LISTEN; null where a pooler is all that is known. */
  readonly listener: SQL | null;
};

/** Which database, and how its sessions are set. */
export type ConnectionOptions = {
  readonly url: URL;
  /** The server behind a pooler at `url`; null where `url` is the server itself, or nobody has named it. */
  readonly direct: URL | null;
  readonly schema: string;
  /** What every session, or behind a pooler every transaction, sets. */
  readonly settings: Readonly<Record<string, string | number>>;
};

/**
 * A parameter of this program's own that each session begins with. A server keeps it. A pooler refuses the connection,
 * or drops what its `ignore_startup_parameters` names, and then the sessions are not this program's.
 */
const MARK = "settlement_evidence.session";
/** What PgBouncer says of a parameter that it cannot keep. */
const REFUSED = /unsupported startup parameter/;
const APPLICATION = { application_name: "settlement-evidence" };
/** Seconds; a server that is away is asked again by whoever needs it. */
const CONNECTION_TIMEOUT = 5;

/** Whether the sessions of a client are its own. */
const keepsSessions = async (sql: SQL): Promise<boolean> => {
  try {
    const [row] = await sql.unsafe<ReadonlyArray<{ mark: string | null }>>(
      `SELECT current_setting('${MARK}', true) AS mark`,
    );
    return row?.mark === "own";
  } catch (cause) {
    if (cause instanceof SQL.PostgresError && REFUSED.test(cause.message)) return false;
    throw cause;
  }
};

/** A transaction that sets what else the session would hold. It costs two round trips more than a statement. */
const pooledTransaction =
  (sql: SQL, settings: ConnectionOptions["settings"]): Work =>
  async (work) => {
    const set = Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = ${value}`);
    const connection = await sql.reserve();
    try {
      await connection.unsafe(["BEGIN", ...set].join("; "));
      const outcome = await work(connection);
      await connection.unsafe("COMMIT");
      return outcome;
    } catch (failure) {
      // A connection that is gone has nothing to undo.
      await connection.unsafe("ROLLBACK").catch(() => undefined);
      throw failure;
    } finally {
      void connection.release();
    }
  };

/**
 * Connections that are made when they are first used. Whether a pooler stands in between is asked then, once it
 * answers. `close` ends all of them.
 */
export const makeConnections = ({ url, direct, schema, settings }: ConnectionOptions) => {
  const opened: Array<SQL> = [];
  const open = (options: SQL.PostgresOrMySQLOptions, address = url): SQL => {
    const sql = new SQL(address.href, {
      bigint: true,
      connectionTimeout: CONNECTION_TIMEOUT,
      ...options,
    });
    opened.push(sql);
    return sql;
  };
  const inSession = { ...settings, search_path: schema };
  const session = { connection: { ...APPLICATION, ...inSession, [MARK]: "own" } };

  const connect = async (): Promise<Connections> => {
    if (direct === null) {
      const sql = open(session);
      if (await keepsSessions(sql))
        return {
          isPooled: false,
          run: (work) => work(sql),
          transaction: (work) => sql.begin(work),
          listener: sql,
        };
      await close(0);
    }
    // A named statement would be prepared in one session and run in another.
    const sql = open({ prepare: false, connection: APPLICATION });
    const transaction = pooledTransaction(sql, inSession);
    const listener = direct === null ? null : open({ ...session, max: 1 }, direct);
    return { isPooled: true, run: transaction, transaction, listener };
  };

  const close = async (timeout: number): Promise<void> => {
    await Promise.all(opened.splice(0).map((sql) => sql.close({ timeout })));
  };
  let connecting: Promise<Connections> | null = null;
  return {
    /** The connections. Rejects while nobody answers, and asks again the next time. */
    connections: (): Promise<Connections> => {
      connecting ??= connect().catch(async (failure: unknown) => {
        await close(0);
        connecting = null;
        throw failure;
      });
      return connecting;
    },
    close: () => close(1),
  };
};
