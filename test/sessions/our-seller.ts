import { SQL } from "bun";
import { Database } from "bun:sqlite";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { fileIdentity, fileSessions, keySigner } from "settlement-evidence/node";
import {
  postgresSessions,
  type SessionStore,
  sessionSeller,
  sqliteSessions,
} from "settlement-evidence/sessions";

// The project's own seller, driven as docs/sessions.md says.
const env = (name: string): string => process.env[name] ?? "";
const STORE = env("STORE");

const shared = async (): Promise<SessionStore> => {
  if (env("DATABASE_URL") !== "") {
    const sql = new SQL(env("DATABASE_URL"), { max: 4 });
    return postgresSessions((text, values) => sql.unsafe(text, [...values]));
  }
  const path = `${STORE}/sessions.sqlite`;
  // The file is there before its identity is asked for.
  if (!existsSync(path)) new Database(path).exec("PRAGMA journal_mode = WAL");
  return sqliteSessions(new Database(path), { identity: await fileIdentity(path) });
};

const store = env("SHARED") === "1" ? await shared() : await fileSessions(STORE);
const ahead = Number(env("CLOCK_AHEAD")) * 1000;
const seller = sessionSeller({
  service: env("SERVICE_URL"),
  trust: readFileSync(env("TRUST_FILE"), "utf8"),
  rpc: env("RPC_URL"),
  merchant: env("MERCHANT"),
  attestor: keySigner(Buffer.from(env("ATTESTOR_KEY"), "hex")),
  payer: keySigner(Buffer.from(env("PAYER_KEY"), "hex")),
  store,
  origin: env("ORIGIN"),
  onProblem: (problem, escrow) => console.error(escrow, problem.code, problem.message),
  clock: {
    nowMs: () => Date.now() + ahead,
    pause: (ms, signal) => pause(ms, undefined, signal && { signal }),
  },
});
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) =>
    seller.handle(
      request,
      env("PRICE"),
      ({ url }) => new Response(`quote ${new URL(url).pathname}`),
    ),
});
const close = async (): Promise<void> => {
  await server.stop();
  await seller.close().catch((cause: unknown) => console.error(String(cause)));
  process.exit(0);
};
process.once("SIGTERM", () => void close());
console.log(server.url.origin);
