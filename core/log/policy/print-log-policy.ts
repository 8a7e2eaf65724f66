import { printVerifierKey } from "../notes/verifier-key.ts";
import type { LogPolicy } from "./log-policy.ts";

const line = (...words: ReadonlyArray<string | null>): string =>
  `${words.filter((word) => word !== null).join(" ")}\n`;

/** The text of a policy (C2SP tlog-policy), which `parseLogPolicy` reads as the same policy. */
export const printLogPolicy = ({ logs, witnesses, groups, quorum }: LogPolicy): string =>
  [
    ...logs.map(({ key, url }) => line("log", printVerifierKey(key), url)),
    ...witnesses.map(({ name, key, url }) => line("witness", name, printVerifierKey(key), url)),
    ...groups.map(({ name, threshold, members }) =>
      line("group", name, String(threshold), ...members),
    ),
    line("quorum", quorum ?? "none"),
  ].join("");
