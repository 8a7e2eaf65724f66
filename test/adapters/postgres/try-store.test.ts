import { expect, test } from "bun:test";
import { SQL } from "bun";
import { Effect } from "effect";
import { tryStore } from "../../../adapters/postgres/try-store.ts";

/** What the store says of a server's answer with this SQLSTATE (PostgreSQL manual, appendix A). */
const faultOf = async (sqlState: string, message: string) => {
  const options = { code: "ERR_POSTGRES_SERVER_ERROR", errno: sqlState };
  const refused = () => Promise.reject(new SQL.PostgresError(message, options));
  const { retryable, fault } = await Effect.runPromise(Effect.flip(tryStore(refused)));
  return { retryable, ...fault };
};

test("a server without room on its disk says so, with the cure, and one without connections another", async () => {
  expect(await faultOf("53100", "could not extend file: No space left on device")).toEqual({
    retryable: true,
    problem: "no space is left on the database server's disk",
    cure: "Make room on the database server's disk.",
  });
  expect(await faultOf("53300", "sorry, too many clients already")).toEqual({
    retryable: true,
    problem: "the server has no connection or memory left",
    cure: "Raise the database server's limits, or free what it lacks.",
  });
});
