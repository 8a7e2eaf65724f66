import { parseAddress } from "../../core/domain/address.ts";
import { parseLedgerSignature } from "../../core/domain/ledger/signature.ts";
import { SettlementError } from "../settlement-error.ts";
import { shown } from "./shown.ts";

type Json = string | number | boolean | null | Array<Json> | { [name: string]: Json };

/** A JSON Schema as it stands in a tool's declaration. */
export type JsonSchema = { [name: string]: Json };

/** The schema of an object. */
export type ObjectSchema = { type: "object"; properties: { [name: string]: Json } } & JsonSchema;

/** One argument of a tool. */
type Parameter<T, Required extends boolean = boolean> = {
  readonly schema: JsonSchema;
  readonly required: Required;
  /** What is wrong with a value, as the end of a sentence that begins with the argument's name; null for nothing. */
  readonly faultOf: (value: unknown) => string | null;
  /** Only for the compiler: the type of a value without fault. */
  readonly type?: T;
};

/** The arguments of a tool by their names. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** The checked values of a tool's arguments. */
export type ValuesOf<P extends Parameters> = {
  readonly [Name in keyof P as P[Name]["required"] extends true ? Name : never]: TypeOf<P[Name]>;
} & {
  readonly [Name in keyof P as P[Name]["required"] extends true ? never : Name]?: TypeOf<P[Name]>;
};
type TypeOf<P> = P extends Parameter<infer T> ? T : never;

const about = (description: string | undefined): JsonSchema =>
  description === undefined ? {} : { description };

/** The most characters of any text argument. A transaction has 1,644 in base64, a task 4,096 bytes. */
const MAX_TEXT = 4096;

const textFault = (value: unknown): string | null => {
  if (typeof value !== "string") return "must be a string";
  if (value === "") return "must not be empty";
  return value.length > MAX_TEXT ? `must have at most ${MAX_TEXT} characters` : null;
};

/** A text of 1 to 4,096 characters. */
export const text = (description?: string): Parameter<string, true> => ({
  schema: { type: "string", ...about(description) },
  required: true,
  faultOf: textFault,
});

/** A text whose form is checked here, because it becomes part of a path. */
const formed = (
  isFormed: (value: string) => boolean,
  form: string,
  description: string | undefined,
): Parameter<string, true> => ({
  ...text(description),
  faultOf: (value) => textFault(value) ?? (isFormed(value as string) ? null : `must be ${form}`),
});

/** An account's address. */
export const address = (description?: string): Parameter<string, true> =>
  formed(
    (value) => parseAddress(value) !== undefined,
    "an address: base58 of 32 bytes",
    description,
  );

/** A transaction's signature. */
export const signature = (description?: string): Parameter<string, true> =>
  formed(
    (value) => parseLedgerSignature(value) !== undefined,
    "a transaction's signature: base58 of 64 bytes",
    description,
  );

/** A whole number from `minimum` to `maximum`. */
export const whole = (
  minimum: number,
  maximum: number,
  description?: string,
): Parameter<number, true> => ({
  schema: { type: "integer", minimum, maximum, ...about(description) },
  required: true,
  faultOf: (value) =>
    Number.isInteger(value) && (value as number) >= minimum && (value as number) <= maximum
      ? null
      : `must be an integer from ${minimum} to ${maximum}`,
});

/** True or false. */
export const flag = (description?: string): Parameter<boolean, true> => ({
  schema: { type: "boolean", ...about(description) },
  required: true,
  faultOf: (value) => (typeof value === "boolean" ? null : "must be true or false"),
});

/** One text of a list. */
export const oneOf = <const T extends ReadonlyArray<string>>(
  values: T,
  description?: string,
): Parameter<T[number], true> => ({
  schema: { type: "string", enum: [...values], ...about(description) },
  required: true,
  faultOf: (value) =>
    values.includes(value as string) ? null : `must be one of ${values.join(", ")}`,
});

/** A JSON object with any members. */
export const anyObject = (description?: string): Parameter<object, true> => ({
  schema: { type: "object", ...about(description) },
  required: true,
  faultOf: (value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? null
      : "must be an object",
});

/** The same argument, which may be left out. */
export const optional = <T>({ schema, faultOf }: Parameter<T, true>): Parameter<T, false> => ({
  schema,
  faultOf,
  required: false,
});

/** The most faults of one call that are named. */
const MAX_FAULTS = 5;

/** The JSON Schema of a tool's arguments. */
export const inputSchema = (parameters: Parameters): ObjectSchema => {
  const required = Object.entries(parameters).flatMap(([name, each]) =>
    each.required ? [name] : [],
  );
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(parameters).map(([name, { schema }]) => [name, schema]),
    ),
    ...(required.length === 0 ? {} : { required }),
    additionalProperties: false,
  };
};

const faultsOf = (
  parameters: Parameters,
  given: Readonly<Record<string, unknown>>,
): ReadonlyArray<string> => {
  const known = Object.entries(parameters).flatMap(([name, { required, faultOf }]) => {
    if (!Object.hasOwn(given, name)) return required ? [`${name} is required`] : [];
    const fault = faultOf(given[name]);
    return fault === null ? [] : [`${name} ${fault}`];
  });
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(parameters, name));
  return [...known, ...unknown.map((name) => `${shown(name)} is not known`)];
};

/** The checked arguments of a call. @throws SettlementError `validation_failed`, which names up to five faults and quotes no value. */
export const readArguments = <P extends Parameters>(parameters: P, given: unknown): ValuesOf<P> => {
  const values = (given ?? {}) as Readonly<Record<string, unknown>>;
  const isObject = typeof values === "object" && !Array.isArray(values);
  const faults = isObject ? faultsOf(parameters, values) : ["the arguments must be an object"];
  if (faults.length === 0) return values as ValuesOf<P>;
  const names = Object.keys(parameters).join(", ");
  throw new SettlementError(
    "validation_failed",
    `${faults.slice(0, MAX_FAULTS).join("; ")}.`,
    names === ""
      ? "Call it without arguments."
      : `Correct the call; the arguments are ${names}. Nothing was signed or sent.`,
  );
};
