import { readFile } from "node:fs/promises";
import { Effect } from "effect";
import { parseLogOrigin } from "../../core/log/checkpoint/log-origin.ts";
import { parseVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { isSameHash } from "../../core/log/tree/tree-hash.ts";
import type { Parsed } from "../../core/log/parsed.ts";
import type { WitnessedLog } from "../../core/use-cases/witness/witness-errors.ts";
import { WitnessUnusable } from "../../ports/log/witness-state.ts";

const parseLine = (line: string): Parsed<WitnessedLog> => {
  const [vkey = "", address = "", ...rest] = line.split(/\s+/);
  const url = URL.parse(address);
  if (rest.length > 0 || url === null || !["http:", "https:"].includes(url.protocol))
    return { fault: "a line is VKEY URL, with an http:// or https:// address" };
  if (url.search !== "" || url.hash !== "")
    return { fault: "the address has a query or a fragment" };
  const key = parseVerifierKey(vkey);
  if ("fault" in key) return key;
  if (key.value.use !== "ed25519") return { fault: "the key is not one of a log, of type 0x01" };
  const origin = parseLogOrigin(key.value.name);
  return "fault" in origin ? origin : { value: { key: key.value, url } };
};

/**
 * Parses a list of logs. Each line is `VKEY URL`: the log's verifier key (C2SP signed-note) and the address of the
 * service that publishes the log. Empty lines and lines that begin with `#` are skipped. While a log's keys are rotated
 * it may have a line for each of the two.
 */
export const parseWitnessedLogs = (text: string): Parsed<ReadonlyArray<WitnessedLog>> => {
  const logs: Array<WitnessedLog> = [];
  for (const [at, line] of text.split("\n").entries()) {
    const trimmed = line.trim();
    if (trimmed === "" || trimmed.startsWith("#")) continue;
    const log = parseLine(trimmed);
    if ("fault" in log) return { fault: `line ${at + 1}: ${log.fault}` };
    const { name, id } = log.value.key;
    const other = logs.find(({ key }) => key.name === name && key.id === id)?.key;
    if (other !== undefined)
      return isSameHash(other.publicKey, log.value.key.publicKey)
        ? { fault: `line ${at + 1} repeats a log` }
        : { fault: `line ${at + 1} has the id ${id} of another key of its log` };
    logs.push(log.value);
  }
  return logs.length === 0 ? { fault: "it names no log" } : { value: logs };
};

/** The logs in the file of WITNESS_LOGS. */
export const readWitnessedLogs = Effect.fnUntraced(function* (path: string) {
  const unusable = (reason: string) => new WitnessUnusable({ source: path, reason });
  const text = yield* Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: () => unusable("the file cannot be read"),
  });
  const logs = parseWitnessedLogs(text);
  return "fault" in logs ? yield* unusable(logs.fault) : logs.value;
});
