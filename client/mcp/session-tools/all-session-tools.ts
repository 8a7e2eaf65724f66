import type { Tool } from "../tool.ts";
import { closeSession } from "./close-session.ts";
import { findSessions } from "./find-sessions.ts";
import { openSession } from "./open-session.ts";
import { paidFetch } from "./paid-fetch.ts";
import { readCallEvidence } from "./read-call-evidence.ts";

/** The tools of a process that keeps sessions, in the order of a session's life. */
export const SESSION_TOOLS: ReadonlyArray<Tool> = [
  openSession,
  paidFetch,
  findSessions,
  closeSession,
  readCallEvidence,
];
