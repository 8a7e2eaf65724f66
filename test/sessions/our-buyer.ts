import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { connect, SettlementError } from "settlement-evidence";
import { fileSession, keySigner } from "settlement-evidence/node";

// The project's own buyer, driven as docs/sessions.md says.
const env = (name: string): string => process.env[name] ?? "";
const TRY_AGAIN = 75;
/** Nothing of these is the seller's refusal: the same again can succeed. */
const PASSING = new Set([
  "call_unanswered",
  "service_unreachable",
  "payment_expired",
  "node_unusable",
  "not_on_ledger",
  "session_unknown",
  "store_unusable",
  "store_in_use",
]);

const passes = ({ code, status }: SettlementError): boolean =>
  PASSING.has(code) || status === 429 || (status ?? 0) >= 500;

const end = (cause: unknown): never => {
  if (!(cause instanceof SettlementError)) throw cause;
  console.error(`${cause.code}: ${cause.message}`);
  process.exit(passes(cause) ? TRY_AGAIN : 1);
};

const ahead = Number(env("CLOCK_AHEAD")) * 1000;
const client = connect(env("SERVICE_URL"), {
  trust: readFileSync(env("TRUST_FILE"), "utf8"),
  rpc: env("RPC_URL"),
  clock: {
    nowMs: () => Date.now() + ahead,
    pause: (ms, signal) => pause(ms, undefined, signal && { signal }),
  },
});
try {
  const session = await client.session({
    merchant: env("MERCHANT"),
    mint: env("MINT"),
    budget: env("BUDGET"),
    ttl: Number(env("TTL")),
    signer: keySigner(Buffer.from(env("AGENT_KEY"), "hex")),
    journal: await fileSession(`${env("JOURNAL")}/session`),
  });
  console.log(`opened ${session.escrow}`);
  try {
    for (;;) {
      const { calls, isClosed } = await session.state();
      if (isClosed || calls >= Number(env("CALLS"))) break;
      const { response, count, price } = await session.call(
        `${env("SELLER_URL")}/quotes/${calls + 1}`,
        { limit: env("PRICE") },
      );
      const body = createHash("sha256")
        .update(await response.bytes())
        .digest("hex");
      console.log(
        count === null ? `unpaid ${response.status}` : `called ${count} ${price} ${body}`,
      );
      if (count === null) process.exit(TRY_AGAIN);
    }
  } catch (cause) {
    if (!(cause instanceof SettlementError) || passes(cause)) throw cause;
    console.error(`${cause.code}: ${cause.message}`);
    console.log(`refused ${cause.code}`);
  }
  if (env("CLOSE") === "1") {
    const { outcome, used, calls } = await session.close({ url: `${env("SELLER_URL")}/quotes/1` });
    console.log(`ended ${outcome} ${used} ${calls}`);
  }
} catch (cause) {
  end(cause);
}
