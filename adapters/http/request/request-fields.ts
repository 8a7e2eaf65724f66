import type { Static, TObject } from "@sinclair/typebox";
import { Effect } from "effect";
import type { FieldFault } from "../../../core/use-cases/request-errors.ts";
import {
  InvalidRequest,
  InvalidRequestAddress,
  RequestBeyondBetaLimit,
  type RequestFault,
} from "../problems/http-failures.ts";

type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The domain's field that a member of a body fills: the same words in camel case; an amount's unit is not repeated. */
type FieldOf<Member> = Member extends "amount_stroops"
  ? "amount"
  : Member extends string
    ? Camel<Member>
    : never;

type FieldsOf<Body> = {
  readonly [Member in keyof Body as FieldOf<Member>]:
    | Exclude<Body[Member], null>
    | (null extends Body[Member] ? undefined : never);
};

const fieldOf = (member: string): string =>
  member === "amount_stroops"
    ? "amount"
    : member.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/**
 * A body's schema read as the input of a use case: its fields, and the place of each (RFC 6901). A member that is null counts as absent.
 * Both follow from the members' names, so a body is told once.
 */
export const bodyFields = <Schema extends TObject>(schema: Schema) => {
  const members = Object.keys(schema.properties).map(
    (member) => [member, fieldOf(member)] as const,
  );
  return {
    of: (body: Static<Schema>): FieldsOf<Static<Schema>> => {
      const fields: Record<string, unknown> = {};
      const given = body as Readonly<Record<string, unknown>>;
      for (const [member, field] of members) fields[field] = given[member] ?? undefined;
      return fields as FieldsOf<Static<Schema>>;
    },
    pointers: Object.fromEntries(
      members.map(([member, field]) => [field, `/${member}`]),
    ) as Readonly<Record<FieldOf<keyof Static<Schema>>, string>>,
  };
};

type Failed<Field extends string> = { readonly faults: ReadonlyArray<FieldFault<Field>> };

/**
 * Handlers for the failures of a use case, each for the tag of its name. They name the place in a route's request that holds a
 * field: a JSON pointer (RFC 6901) into the body, `?name` for a query parameter, `/name` for a path parameter. A
 * failure that can name a field without a pointer does not compile.
 */
export const fieldPointers = <Field extends string>(pointers: Readonly<Record<Field, string>>) => {
  const located = ({
    faults,
  }: Failed<Field>): { readonly faults: ReadonlyArray<RequestFault> } => ({
    faults: faults.map(({ field, inside = "", detail }) => ({
      pointer: `${pointers[field]}${inside}`,
      detail,
    })),
  });
  return {
    validationFailed: (failed: Failed<Field>) => Effect.fail(new InvalidRequest(located(failed))),
    invalidAddress: (failed: Failed<Field>) =>
      Effect.fail(new InvalidRequestAddress(located(failed))),
    betaLimitExceeded: (failed: Failed<Field>) =>
      Effect.fail(new RequestBeyondBetaLimit(located(failed))),
  };
};
