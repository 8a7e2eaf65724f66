import { amountsText } from "./delivery-payload.ts";
import { unixTimeText } from "../unix-time.ts";
import type { CallVerdict, EvidenceCheck, EvidenceVerdict, JudgedCall } from "./evidence-check.ts";

const MARKS: Readonly<Record<EvidenceCheck["outcome"], string>> = {
  passed: "ok      ",
  failed: "FAILED  ",
  not_applicable: "-       ",
  unproven: "unproven",
  witnessed: "witness ",
};

const NEVER_SHOWN = `A packet does not show that anything was delivered. It says what an attestor signed and what the ledger did.
Its references are not signed; look them up on the ledger.`;

const namesOf = (
  { checks }: EvidenceVerdict,
  outcome: EvidenceCheck["outcome"],
): ReadonlyArray<string> =>
  checks.filter((each) => each.outcome === outcome).map(({ name }) => name);

/** The names of the checks that could not be decided. */
export const unprovenIn = (verdict: EvidenceVerdict): ReadonlyArray<string> =>
  namesOf(verdict, "unproven");

/**
 * The sentence about the node: none was named, it was asked, it was not asked because the packet fails without it, or
 * this verifier asks none.
 */
const HINTS = {
  none: " Ask a node of your choice with --rpc URL.",
  asked: "",
  spared: " The node was not asked, because the packet fails without it.",
  offline: " A node of the ledger shows it: docs/verify-evidence.md.",
} as const;

/** What a call comes to, for people: what was ordered, delivered and paid, and who vouches for each. */
const callText = (call: JudgedCall): string => {
  const ordered = call.ordered ?? "an order of which only the hash is shown";
  const paid =
    call.settlement === "paid"
      ? `${call.price_stroops} base units, by the account of the escrow`
      : `attested, not paid: ${call.price_stroops} base units of at most ${call.limit_stroops}`;
  return `Call ${call.count} of the session ${call.escrow}
  ordered:   ${ordered}, by the agent's session key
  delivered: at ${unixTimeText(BigInt(call.delivered.at))}, by the word of the attestor ${call.delivered.attestor}
  paid:      ${paid}
`;
};

/** A verdict for people: a line for each check, what is not shown, and the verdict last. */
export const verdictText = (
  result: EvidenceVerdict | CallVerdict,
  node: keyof typeof HINTS,
): string => {
  const lines = result.checks.map(
    ({ name, outcome, reason }) => `${MARKS[outcome]}  ${name}: ${reason}`,
  );
  const unproven = unprovenIn(result);
  // What was delivered is with its buyer and its seller, whoever is asked about the ledger.
  const hint = unproven.every((name) => name === "call_payload") ? "" : HINTS[node];
  const open = unproven.length === 0 ? "" : `Not shown here: ${unproven.join(", ")}.${hint}\n`;
  const witnessed = namesOf(result, "witnessed");
  const stated =
    witnessed.length === 0 ? "" : `Witnessed by the policy's quorum: ${witnessed.join(", ")}.\n`;
  const paid = result.amounts === null ? "" : `${amountsText(result.amounts)}\n`;
  const call = "call" in result && result.call !== null ? callText(result.call) : "";
  return `${lines.join("\n")}\n\n${call}${paid}${stated}${open}${NEVER_SHOWN}\n\n${result.verdict}\n`;
};
