import type { LogPolicy, PolicyGroup } from "./log-policy.ts";

/** Whether enough witnesses cosigned, and how that is counted. */
export type QuorumVerdict = {
  readonly isMet: boolean;
  /** Members of the quorum that witnessed, and those that did not: witnesses and groups. */
  readonly signed: ReadonlyArray<string>;
  readonly missing: ReadonlyArray<string>;
  /** Such as `quorum X wants 2 of [a, b, c]; signed: a`, and which witnesses are never counted. */
  readonly reason: string;
};

/** The quorum of one witness is a group of itself. */
const quorumGroup = (policy: LogPolicy, name: string): PolicyGroup =>
  policy.groups.find((group) => group.name === name) ?? { name, threshold: 1, members: [name] };

/** The witnesses and groups that have witnessed, from the witnesses that have. A group's members stand before it. */
const witnessedBy = (policy: LogPolicy, witnesses: Iterable<string>): ReadonlySet<string> => {
  const witnessed = new Set(witnesses);
  for (const { name, threshold, members } of policy.groups)
    if (members.filter((member) => witnessed.has(member)).length >= threshold) witnessed.add(name);
  return witnessed;
};

/** Whether the policy's quorum is met when `witnesses`, by their names in the policy, cosigned. */
export const judgeQuorum = (policy: LogPolicy, witnesses: Iterable<string>): QuorumVerdict => {
  if (policy.quorum === null)
    return { isMet: true, signed: [], missing: [], reason: "quorum none wants no witness" };
  const { name, threshold, members } = quorumGroup(policy, policy.quorum);
  const [known, unread] = [new Set<string>(), new Array<string>()];
  for (const each of policy.witnesses)
    if (each.key.use === "ml-dsa-44") unread.push(each.name);
    else known.add(each.name);
  const witnessed = witnessedBy(
    policy,
    [...witnesses].filter((witness) => known.has(witness)),
  );
  const signed = members.filter((member) => witnessed.has(member));
  const missing = members.filter((member) => !witnessed.has(member));
  const names = signed.length === 0 ? "none" : signed.join(", ");
  const uncounted = unread.length === 0 ? "" : `; not counted: ${unread.join(", ")} (ML-DSA-44)`;
  return {
    isMet: signed.length >= threshold,
    signed,
    missing,
    reason: `quorum ${name} wants ${threshold} of [${members.join(", ")}]; signed: ${names}${uncounted}`,
  };
};
