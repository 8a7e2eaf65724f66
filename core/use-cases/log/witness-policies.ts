import { Context, type Ref } from "effect";
import { bytesToHex } from "@noble/hashes/utils.js";
import { keyLabel } from "../../log/notes/verifier-key.ts";
import type { LogPolicy } from "../../log/policy/log-policy.ts";

/** The witnesses that a service asks, by what they state; null for none. Its trust document names the same ones. */
export type WitnessPoliciesValue = {
  /** They compare the log with a node of their own. */
  readonly onLedger: LogPolicy | null;
  /** They only see that the log grows. */
  readonly appendOnly: LogPolicy | null;
  /** Why what names them now cannot be used, so that these go on: file and line, for the operator. Absent otherwise. */
  readonly problem?: string;
};

/** The policies of the process's log. They change while it runs. */
export class WitnessPolicies extends Context.Service<
  WitnessPolicies,
  Ref.Ref<WitnessPoliciesValue>
>()("settlement-evidence/core/use-cases/WitnessPolicies") {}

const namesIn = ({ witnesses, groups }: LogPolicy): ReadonlyArray<string> =>
  [...witnesses, ...groups].map(({ name }) => name);

/** Why a log cannot ask the witnesses of both, null when it can: a key or a word stands in both. */
export const faultOfPolicies = ({ onLedger, appendOnly }: WitnessPoliciesValue): string | null => {
  if (onLedger === null || appendOnly === null) return null;
  const keys = new Set(onLedger.witnesses.map(({ key }) => bytesToHex(key.publicKey)));
  const twice = appendOnly.witnesses.find(({ key }) => keys.has(bytesToHex(key.publicKey)));
  if (twice !== undefined) return `the key of ${twice.name} stands in LOG_WITNESSES as well`;
  const labels = new Set(onLedger.witnesses.map(({ key }) => keyLabel(key)));
  const twin = appendOnly.witnesses.find(({ key }) => labels.has(keyLabel(key)));
  if (twin !== undefined)
    return `another key in LOG_WITNESSES is named ${keyLabel(twin.key)}, as that of ${twin.name} is`;
  const words = new Set(namesIn(onLedger));
  const word = namesIn(appendOnly).find((name) => words.has(name));
  return word === undefined ? null : `${word} is defined in LOG_WITNESSES as well`;
};

/** A policy by which a log asks. */
export type AskedPolicy = LogPolicy & {
  /**
   * A second quorum, which the log waits for a moment and publishes without: the name of a witness or group. A dead
   * witness that looks at no ledger does not keep back what others state of the ledger.
   */
  readonly awaited?: string;
};

/**
 * The one policy by which a log asks: all witnesses, with the quorum of those that look at a ledger, where it is wanted;
 * null without witnesses. That of the others is awaited. A witness whose cosignatures nothing here verifies is not
 * asked.
 */
export const askedPolicy = ({ onLedger, appendOnly }: WitnessPoliciesValue): AskedPolicy | null => {
  const policies = [onLedger, appendOnly].filter((policy) => policy !== null);
  if (policies.length === 0) return null;
  const [quorum = null, awaited] = policies.flatMap((policy) => policy.quorum ?? []);
  return {
    logs: policies.flatMap(({ logs }) => logs),
    witnesses: policies.flatMap(({ witnesses }) =>
      witnesses.map((each) => (each.key.use === "ml-dsa-44" ? { ...each, url: null } : each)),
    ),
    groups: policies.flatMap(({ groups }) => groups),
    quorum,
    ...(awaited === undefined ? {} : { awaited }),
  };
};
