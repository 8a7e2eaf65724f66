import { verifyCall } from "../../../core/protocol/verification/verify-call.ts";
import type { AgentSessions } from "../agent-sessions.ts";
import { aForeignText, aForeignTextOrNull, atOrNull, aWord } from "../output.ts";
import { address, whole } from "../parameter.ts";
import { tool } from "../tool.ts";
import { sessionsOf } from "./session-step.ts";

/** The most calls of a session that an account counts. */
const MOST_CALLS = 4_294_967_295;
/** The longest order that is shown, characters. */
const MOST_ORDERED = 300;
const MOST_URI = 80;
const NAMED = /^settlement:\/\/call\/([1-9A-HJ-NP-Za-km-z]{32,44})-([1-9][0-9]{0,9})$/;

const evidenceOf = async (
  sessions: AgentSessions,
  session: string,
  count: number,
  signal: AbortSignal,
): Promise<string> => (await sessions.open(session, signal)).evidence(count);

/** The evidence that a URI of a call names; null for another URI. @throws SettlementError */
export const readCallResource = async (
  sessions: AgentSessions,
  uri: string,
  signal: AbortSignal,
): Promise<{ readonly uri: string; readonly mimeType: string; readonly text: string } | null> => {
  const [, session, count] = NAMED.exec(uri) ?? [];
  if (session === undefined) return null;
  const text = await evidenceOf(sessions, session, Number(count), signal);
  return { uri, mimeType: "application/json", text };
};

/** `read_call_evidence`: what the evidence of one call proves. */
export const readCallEvidence = tool({
  name: "read_call_evidence",
  description:
    "What the evidence of one call of a session proves; the evidence itself is a resource, to verify offline.",
  parameters: { session: address(), count: whole(1, MOST_CALLS) },
  output: {
    verdict: "verdict",
    settlement: aWord("paid, or attested and not paid yet"),
    price: atOrNull("price"),
    ordered: aForeignTextOrNull(MOST_ORDERED),
    failed: aWord("The first check that failed, or none"),
    evidence: aForeignText(MOST_URI),
  },
  run: async ({ session, count }, context) => {
    const sessions = sessionsOf(context);
    const text = await evidenceOf(sessions, session, count, context.signal);
    const { verdict, checks, call } = verifyCall(text, sessions.policy);
    const evidence = `settlement://call/${session}-${count}`;
    return {
      answer: {
        verdict,
        settlement: call?.settlement ?? "unproven",
        price: call?.price_stroops ?? null,
        ordered: call?.ordered?.slice(0, MOST_ORDERED) ?? null,
        failed: checks.find(({ outcome }) => outcome === "failed")?.name ?? "none",
        evidence,
      },
      links: [{ uri: evidence, name: `The evidence of call ${count}` }],
    };
  },
});
