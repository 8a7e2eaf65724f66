import type { TObject, TSchema } from "@sinclair/typebox";
import type {
  BetaLimitExceeded,
  InvalidAddress,
  LimitedTerm,
  ValidationFailed,
} from "../../../core/use-cases/request-errors.ts";
import type { ApiFailure } from "../problems/api-failure.ts";
import {
  InvalidRequest,
  InvalidRequestAddress,
  RequestBeyondBetaLimit,
} from "../problems/http-failures.ts";
import type { ProblemCode } from "../problems/problem-catalogue.ts";

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** Members whose domain field is not just their name in camel case. */
const OWN_NAMES = { amount_stroops: "amount", transaction: "wantsTransaction" } as const;
type OwnNames = typeof OWN_NAMES;

/** The domain's field that a member of a request fills. */
export type FieldOf<Member> = Member extends keyof OwnNames
  ? OwnNames[Member]
  : Member extends string
    ? Camel<Member>
    : never;

type FieldsOf<Given> = {
  readonly [Member in keyof Given as FieldOf<Member>]:
    | Exclude<Given[Member], null>
    | (null extends Given[Member] ? undefined : never);
};

const names = new Map<string, string>(Object.entries(OWN_NAMES));

/** The domain field of a member. Memoized: there are few members, and every request has some. */
const fieldOf = (member: string): string => {
  const name =
    names.get(member) ??
    member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  names.set(member, name);
  return name;
};

/** The checked members of a request as the input of a use case. A member that is null counts as absent. */
export const fieldsOf = <const Given extends object>(given: Given): FieldsOf<Given> => {
  const fields: Record<string, unknown> = {};
  for (const member of Object.keys(given) as Array<keyof Given & string>)
    fields[fieldOf(member)] = given[member] ?? undefined;
  return fields as FieldsOf<Given>;
};

/** The failures with field names that an operation with these fields and problem codes can have. */
export type FieldFailure<Field extends string, Code extends ProblemCode> =
  | ValidationFailed<Field>
  | ("invalid_address" extends Code ? InvalidAddress<Field> : never)
  | ("beta_limit_exceeded" extends Code
      ? LimitedTerm extends Field
        ? BetaLimitExceeded
        : never
      : never);

/** An operation's request schemas, and `places` for the domain fields that no member fills. */
type Declared = {
  readonly params?: Readonly<Record<string, TSchema>>;
  readonly query?: TObject;
  readonly body?: { readonly schema: TObject };
  readonly places?: Readonly<Record<string, string>>;
};

const filledBy = (members: object, sign: "/" | "?") =>
  Object.fromEntries(Object.keys(members).map((member) => [fieldOf(member), sign + member]));

/**
 * Maps the failures of an operation's use case: replaces each domain field by its place in the request. A place is a
 * JSON pointer (RFC 6901) into the body, `?name` for a query parameter, or `/name` for a path parameter.
 */
export const locatedIn = ({ params = {}, query, body, places: own }: Declared) => {
  const places: Readonly<Record<string, string>> = {
    ...filledBy(params, "/"),
    ...filledBy(query?.properties ?? {}, "?"),
    ...filledBy(body?.schema.properties ?? {}, "/"),
    ...own,
  };
  return (failure: ApiFailure | FieldFailure<string, ProblemCode>): ApiFailure => {
    const { _tag: tag } = failure;
    if (tag !== "ValidationFailed" && tag !== "InvalidAddress" && tag !== "BetaLimitExceeded")
      return failure;
    const faults = failure.faults.map(({ field, inside = "", detail }) => ({
      pointer: `${places[field]}${inside}`,
      detail,
    }));
    if (tag === "ValidationFailed") return new InvalidRequest({ faults });
    if (tag === "InvalidAddress") return new InvalidRequestAddress({ faults });
    return new RequestBeyondBetaLimit({ faults });
  };
};
