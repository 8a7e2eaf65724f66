import { amountsText } from "./delivery-payload.ts";
import type { EvidenceCheck, EvidenceVerdict } from "./evidence-check.ts";

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

/** A verdict for people: a line for each check, what is not shown, and the verdict last. */
export const verdictText = (result: EvidenceVerdict, node: keyof typeof HINTS): string => {
  const lines = result.checks.map(
    ({ name, outcome, reason }) => `${MARKS[outcome]}  ${name}: ${reason}`,
  );
  const unproven = unprovenIn(result);
  const open =
    unproven.length === 0 ? "" : `Not shown here: ${unproven.join(", ")}.${HINTS[node]}\n`;
  const witnessed = namesOf(result, "witnessed");
  const stated =
    witnessed.length === 0 ? "" : `Witnessed by the policy's quorum: ${witnessed.join(", ")}.\n`;
  const paid = result.amounts === null ? "" : `${amountsText(result.amounts)}\n`;
  return `${lines.join("\n")}\n\n${paid}${stated}${open}${NEVER_SHOWN}\n\n${result.verdict}\n`;
};
