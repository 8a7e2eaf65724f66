import { distance } from "fastest-levenshtein";
import type { ConfigFault } from "./variable.ts";

/** Prefixes of this service's variables. A name without one is reported only when it is close to one of ours. */
const OWN_PREFIXES = [
  "RATE_LIMIT_",
  "METRICS_",
  "LOCAL_LEDGER_",
  "EVIDENCE_SIGNING_",
  "EVIDENCE_RETIRED_",
  "LOG_SIGNING_",
  "LOG_WITNESS",
  "WITNESS_",
  "ARCHIVE_",
];

/** Login shells, ssh, sudo, cron and systemd set the name of the user (POSIX.1-2017, Base Definitions, 8.3). */
const SET_BY_SYSTEM = new Set(["LOGNAME"]);

/** Names shorter than this resemble too much: HOST is one letter away from GHOST. */
const SHORTEST_COMPARED = 6;
/** Two letters of a long name may be wrong, one of a shorter. */
const LONG_NAME = 10;

const spelling = (name: string): string => name.toUpperCase().replaceAll(/[_-]/g, "");

const resembles = (name: string, variable: string): boolean => {
  if (variable.length < SHORTEST_COMPARED) return false;
  if (spelling(name) === spelling(variable)) return true;
  return distance(name, variable) <= (variable.length < LONG_NAME ? 1 : 2);
};

/**
 * A fault for each name that is not in `known` but resembles one of them, or begins as the service's own do: a setting
 * that is misspelt must not be passed over.
 */
export const misspelt = (
  names: ReadonlyArray<string>,
  known: ReadonlyArray<string>,
): ReadonlyArray<ConfigFault> =>
  names.flatMap((variable) => {
    if (known.includes(variable) || SET_BY_SYSTEM.has(variable)) return [];
    const prefix = OWN_PREFIXES.find((own) => variable.startsWith(own));
    const near = known.filter((name) => resembles(variable, name));
    const family = prefix === undefined ? [] : known.filter((name) => name.startsWith(prefix));
    const meant = near.length > 0 ? near : family;
    return meant.length === 0
      ? []
      : [{ variable, problem: "is not a variable of this service", expected: meant.join(", ") }];
  });
