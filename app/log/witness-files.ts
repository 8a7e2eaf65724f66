import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  makeFolderDurably,
  readIfThere,
  withFileLock,
  writeDurably,
} from "../../adapters/bun/durable-file.ts";
import type { Parsed } from "../../core/log/parsed.ts";
import type { LogPolicy } from "../../core/log/policy/log-policy.ts";
import { parseLogPolicy, policyFaultText } from "../../core/log/policy/parse-log-policy.ts";
import { printLogPolicy } from "../../core/log/policy/print-log-policy.ts";
import {
  groupOfPolicy,
  groupPolicy,
  type WitnessGroup,
} from "../../core/log/policy/witness-group.ts";

/** Which setting names a policy of the log's witnesses. */
export type PolicySetting = "LOG_WITNESSES" | "LOG_WITNESSES_APPEND_ONLY";

/** The files in the data directory that hold the policies where no setting names others. */
const USUAL_FILES: Readonly<Record<PolicySetting, string>> = {
  LOG_WITNESSES: "log-witnesses",
  LOG_WITNESSES_APPEND_ONLY: "log-witnesses-append-only",
};

/** Where a policy is read from: the file that its setting names, otherwise its usual one in the data directory. */
export const witnessFile = (
  setting: PolicySetting,
  given: string | null,
  dataDir: string,
): string => given ?? join(dataDir, USUAL_FILES[setting]);

const HEADING = `# Witnesses of this service's log (docs/log.md, "Operating a log"). Comments go when a command changes the file.
`;

const BY_HAND =
  "its policy is not one group of all its witnesses; change the line, and its place in the quorum, by hand";

/** The policy of a log that asks nobody. */
const NO_WITNESS = "quorum none\n";

const groupIn = (text: string | null): Parsed<WitnessGroup | null> => {
  if (text === null) return { value: null };
  const policy = parseLogPolicy(text);
  if ("fault" in policy) return { fault: policyFaultText(policy) };
  if (printLogPolicy(policy.value) === NO_WITNESS) return { value: null };
  const group = groupOfPolicy(policy.value);
  return group === null ? { fault: BY_HAND } : { value: group };
};

/** The policy in a file; null where there is none, and where it cannot be parsed. Rejects like the file system. */
export const readWitnessFile = async (path: string): Promise<LogPolicy | null> => {
  const policy = parseLogPolicy((await readIfThere(path)) ?? "");
  return "fault" in policy ? null : policy.value;
};

/**
 * Changes the group of witnesses in a file; null stands for none. A file without any is removed, or says so: a service
 * that runs takes over what a file says, and goes on asking when one is gone. What cannot be read as a group of witnesses, and
 * what would be no policy, is left as it is, with the reason. Rejects like the file system.
 */
export const changeWitnessFile = async (
  path: string,
  change: (group: WitnessGroup | null) => WitnessGroup | null,
  empty: "is removed" | "names none" = "is removed",
): Promise<Parsed<WitnessGroup | null>> => {
  await makeFolderDurably(dirname(path));
  return withFileLock(`${path}.lock`, async () => {
    const before = await readIfThere(path);
    const group = groupIn(before);
    if ("fault" in group) return group;
    const next = change(group.value);
    if (next === null) {
      if (empty === "is removed") await rm(path, { force: true });
      else if (before !== null) await writeDurably(path, `${HEADING}${NO_WITNESS}`, 0o600);
      return { value: null };
    }
    const text = printLogPolicy(groupPolicy(next));
    const policy = parseLogPolicy(text);
    if ("fault" in policy) return policy;
    const isSame = group.value !== null && printLogPolicy(groupPolicy(group.value)) === text;
    if (!isSame) await writeDurably(path, `${HEADING}${text}`, 0o600);
    return { value: next };
  });
};
