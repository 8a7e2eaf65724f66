import type { SettlementError } from "../settlement-error.ts";

/** The arguments of tools by the names that the HTTP contract has for them. */
const ARGUMENT_OF: Readonly<Record<string, string>> = {
  agent_owner: "agent",
  amount_stroops: "amount",
  task_intent: "task",
  pda: "escrow",
};
/** The longest line. Details of the service are bounded themselves. */
const MAX_LINE = 600;

/** The longest cure. What is wrong may be longer than a line; its cure is kept. */
const MAX_CURE = 300;

const inOneLine = (text: string, most: number): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most)}…`;
};

type Fault = { readonly pointer: string; readonly detail: string };

const faultText = ({ pointer, detail }: Fault): string => {
  const name = pointer.replace(/^[/?]/, "");
  return `${ARGUMENT_OF[name] ?? name} ${detail}`;
};

/** The name of the transaction that a problem is about, so that its outcome can be asked for. */
const namedIn = (problem: SettlementError["problem"]): string => {
  const signature = problem?.["signature"];
  return typeof signature === "string" ? ` Its signature is ${signature}.` : "";
};

/** A failure in one line: its code, what is wrong, and the cure. */
export const problemLine = ({ code, message, cure, problem }: SettlementError): string => {
  const errors = problem?.["errors"];
  const faults = Array.isArray(errors) ? (errors as ReadonlyArray<Fault>).map(faultText) : [];
  const what = faults.length === 0 ? message : `${faults.join("; ")}.`;
  const told = faults.length === 0 ? cure : "Correct the call. Nothing was signed or sent.";
  const end = inOneLine(told, MAX_CURE);
  return `${inOneLine(`${code}: ${what}${namedIn(problem)}`, MAX_LINE - end.length)} ${end}`;
};
