import { echoed, foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { parseLedgerSignature } from "../../core/domain/ledger/signature.ts";
import type { SettlementError } from "../settlement-error.ts";
import { argumentOf } from "./ask.ts";

/** Names and URIs have no other characters. */
const PLAIN = /^[\w:/.…-]+$/;

/**
 * The beginning of a caller's text for an answer, which goes into a model's context: a plain name as it is, anything
 * else in quotes.
 */
export const shown = (text: string): string => {
  const part = echoed(text);
  return PLAIN.test(part) ? part : JSON.stringify(part);
};

/** The longest line. Details of the service are bounded themselves. */
const MAX_LINE = 600;

/** The longest cure. What is wrong may be longer than a line; its cure is kept. */
const MAX_CURE = 300;

/** The most faults that are told. */
const MAX_FAULTS = 20;

const inOneLine = (text: string, most: number): string =>
  foreignText(text.replaceAll(/\s+/g, " ").trim(), most);

/** A fault as a problem names it; none for anything else in its place. */
const faultText = (fault: unknown): ReadonlyArray<string> => {
  const { pointer, detail } = (fault ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof pointer !== "string" || typeof detail !== "string") return [];
  return [`${argumentOf(pointer.replace(/^[/?]/, ""))} ${detail}`];
};

/** The name of the transaction that a problem is about, so that its outcome can be asked for. */
const namedIn = (problem: SettlementError["problem"]): string => {
  const signature = problem?.["signature"];
  return typeof signature === "string" && parseLedgerSignature(signature) !== undefined
    ? ` Its signature is ${signature}.`
    : "";
};

/** A failure in one line: its code, what is wrong, and the cure. */
export const problemLine = ({ code, message, cure, problem }: SettlementError): string => {
  const errors = problem?.["errors"];
  const faults = Array.isArray(errors) ? errors.slice(0, MAX_FAULTS).flatMap(faultText) : [];
  const what = faults.length === 0 ? message : `${faults.join("; ")}.`;
  const told = faults.length === 0 ? cure : "Correct the call. Nothing was signed or sent.";
  const end = inOneLine(told, MAX_CURE);
  return `${inOneLine(`${code}: ${what}${namedIn(problem)}`, MAX_LINE - end.length)} ${end}`;
};

/** The most rows of a list that a tool gives at once: a model reads all of them. */
export const PAGE_ROWS = 10;
