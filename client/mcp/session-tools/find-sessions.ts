import type { SessionRow } from "../session-row.ts";
import { aForeignTextOrNull, at, atOrNull, rowsAt, type ShownOf } from "../output.ts";
import { PAGE_ROWS } from "../shown.ts";
import { tool } from "../tool.ts";
import { sessionsOf } from "./session-step.ts";

const MOST_ORIGIN = 270;

const ROW = {
  session: "session",
  state: at("state", "open: paid_fetch"),
  merchant: atOrNull("merchant"),
  origin: aForeignTextOrNull(MOST_ORIGIN),
  mint: atOrNull("mint"),
  budget: atOrNull("budget"),
  used: atOrNull("used"),
  calls: atOrNull("calls"),
  expires_at: atOrNull("expires_at"),
} as const satisfies ShownOf<SessionRow>;

/** What can be gone on with comes first, and of that what ends last. */
const inOrder = (one: SessionRow, other: SessionRow): number =>
  Number(other.state === "open") - Number(one.state === "open") ||
  (other.expires_at ?? "").localeCompare(one.expires_at ?? "");

/** `find_sessions`: the sessions that are kept on this machine. */
export const findSessions = tool({
  name: "find_sessions",
  description: "Sessions kept on this machine, also from before a restart.",
  parameters: {},
  output: {
    sessions: rowsAt("sessions", ROW, PAGE_ROWS),
    more: at("more", "Others, not shown"),
  },
  run: async (_, context) => {
    const all = (await sessionsOf(context).all()).toSorted(inOrder);
    const sessions = all.slice(0, PAGE_ROWS);
    return { answer: { sessions, more: all.length - sessions.length } };
  },
});
