import { type CarriedBy, type Operation, requestOf } from "../service/operation.ts";
import { type Answer, jsonOf, problemOf, type RequestOptions } from "../service/requests.ts";

/** One request of the service. Answers problems too; rejects with a SettlementError when no answer comes. */
export type ServiceCall = (path: string, options?: RequestOptions) => Promise<Answer>;

/** The members of the HTTP contract by the names that the tools' arguments have for them. */
const MEMBER_OF = {
  agent: "agent_owner",
  amount: "amount_stroops",
  task: "task_intent",
  escrow: "pda",
} as const;

/** The contract's name for an argument. */
export type MemberOf<Name> = Name extends keyof typeof MEMBER_OF ? (typeof MEMBER_OF)[Name] : Name;

const members: Readonly<Record<string, string>> = MEMBER_OF;

/** A tool's arguments by the contract's names for them. */
export const membersOf = <const Given extends object>(given: Given) =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) => [members[name] ?? name, value as unknown]),
  ) as { readonly [Name in keyof Given as MemberOf<Name>]: Given[Name] };

/** The argument that a member of the contract stands for; the member's own name where none does. */
export const argumentOf = (member: string): string =>
  Object.entries(members).find(([, name]) => name === member)?.[0] ?? member;

/** The whole JSON of an operation's answer, whatever it holds. @throws SettlementError for a problem. */
export const ask = async <Name extends Operation, const Given>(
  call: ServiceCall,
  operation: Name,
  carried: CarriedBy<Name, Given>,
): Promise<unknown> => {
  const answer = await call(...requestOf(operation, carried));
  if (answer.status < 200 || answer.status > 299) throw problemOf(answer);
  return jsonOf(answer);
};
