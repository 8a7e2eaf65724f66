import { bytesToHex } from "@noble/hashes/utils.js";
import { decodeBase64Url } from "../../domain/encoding/base64.ts";
import type { TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { keyLabel, printVerifierKey } from "../../log/notes/verifier-key.ts";
import type { Parsed } from "../../log/parsed.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";
import { parseLogPolicy } from "../../log/policy/parse-log-policy.ts";

/** The two policies of a trust document by what their witnesses state; at least one is there. */
export type TrustedLogs = {
  /** The logs alone, which are those of either policy: who signed, whatever witnesses say. */
  readonly logs: LogPolicy;
  /** Its witnesses compare the log with a node of their own. */
  readonly onLedger: LogPolicy | null;
  /** Its witnesses only see that the log grows. What they cosigned says nothing of a ledger. */
  readonly appendOnly: LogPolicy | null;
};

const logKeysOf = ({ logs }: LogPolicy): string =>
  logs
    .map(({ key }) => printVerifierKey(key))
    .toSorted()
    .join("\n");

/**
 * What is wrong with the two together, null for nothing. A key that states one thing must not be counted as if it
 * stated the other, under whatever name.
 */
const faultOfBoth = (onLedger: LogPolicy, appendOnly: LogPolicy): string | null => {
  if (logKeysOf(onLedger) !== logKeysOf(appendOnly))
    return "log_on_ledger and log_append_only do not name the same logs";
  const names = new Map(
    onLedger.witnesses.map(({ name, key }) => [bytesToHex(key.publicKey), name]),
  );
  const labels = new Set(onLedger.witnesses.map(({ key }) => keyLabel(key)));
  for (const { name, key } of appendOnly.witnesses) {
    const other = names.get(bytesToHex(key.publicKey));
    if (other !== undefined)
      return `log_append_only: ${name} has the public key of ${other} in log_on_ledger`;
    if (labels.has(keyLabel(key)))
      return `log_append_only: another key in log_on_ledger is named ${keyLabel(key)}`;
  }
  return null;
};

/**
 * The logs and witnesses that a trust document names, null for none, or what is wrong with them. No key may stand in
 * both policies as a witness, and none of the document's own keys in either.
 */
export const trustedLogsOf = ({
  keys,
  logOnLedger,
  logAppendOnly,
}: Pick<TrustPolicy, "keys" | "logOnLedger" | "logAppendOnly">): Parsed<TrustedLogs | null> => {
  const signing = keys.flatMap(({ x }) => decodeBase64Url(x) ?? []);
  const read = (text: string | null, member: string): Parsed<LogPolicy | null> => {
    if (text === null) return { value: null };
    const parsed = parseLogPolicy(text, signing);
    return "fault" in parsed ? { fault: `${member}: ${parsed.fault}` } : parsed;
  };
  const onLedger = read(logOnLedger, "log_on_ledger");
  if ("fault" in onLedger) return onLedger;
  const appendOnly = read(logAppendOnly, "log_append_only");
  if ("fault" in appendOnly) return appendOnly;
  const first = onLedger.value ?? appendOnly.value;
  if (first === null) return { value: null };
  const fault = onLedger.value && appendOnly.value && faultOfBoth(onLedger.value, appendOnly.value);
  if (fault !== null) return { fault };
  const logs = { logs: first.logs, witnesses: [], groups: [], quorum: null };
  return { value: { logs, onLedger: onLedger.value, appendOnly: appendOnly.value } };
};
