import { at, atOrNull, UNSIGNED } from "../output.ts";
import { address } from "../parameter.ts";
import { tool } from "../tool.ts";
import { NOTHING_TO_SIGN, sessionsOf, unlessUnsigned } from "./session-step.ts";

/** How long the seller's settlement is awaited. Clients give a tool a minute. */
const SETTLED_WITHIN_MS = 20_000;

/** `close_session`: ends a session with its seller, or prepares what the wallet needs to end it alone. */
export const closeSession = tool({
  name: "close_session",
  description:
    "Ends a session with its seller; the rest comes home. If the seller does not settle, gives the transaction by which the wallet ends it alone.",
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true },
  parameters: { session: address() },
  output: {
    session: "session",
    outcome: at("outcome", "settled; closing: call again after closes_at; unsigned: sign"),
    closes_at: atOrNull("closes_at"),
    budget: "budget",
    used: "used",
    rest: at("rest", "Home, or coming home"),
    calls: "calls",
    ...UNSIGNED,
  },
  run: async ({ session: escrow }, context) => {
    const sessions = sessionsOf(context);
    const session = await sessions.open(escrow, context.signal);
    const closed = await unlessUnsigned(() =>
      session.close({ signal: context.signal, settledWithinMs: SETTLED_WITHIN_MS }),
    );
    if ("unsigned" in closed) {
      const { budget, used, left, calls } = await session.state();
      const standing = { session: escrow, budget, used, rest: left, calls };
      const answer = { ...standing, outcome: "unsigned", closes_at: null, ...closed.unsigned };
      return { answer };
    }
    const { outcome, closesAt, budget, used, rest, calls } = closed.done;
    const standing = { session: escrow, budget, used, rest, calls };
    return { answer: { ...standing, outcome, closes_at: closesAt, ...NOTHING_TO_SIGN } };
  },
});
