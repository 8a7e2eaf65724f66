import { type Form, FORMS } from "../service/forms.ts";
import { SettlementError } from "../settlement-error.ts";
import { shown } from "./shown.ts";

type Json = string | number | boolean | null | Array<Json> | { [name: string]: Json };

/** A JSON Schema as it stands in a tool's declaration. */
export type JsonSchema = { [name: string]: Json };

/** The schema of an object. */
export type ObjectSchema = { type: "object"; properties: { [name: string]: Json } } & JsonSchema;

type ValueSchema = {
  type: "string" | "integer" | "boolean" | "object";
  enum?: Array<string>;
  minimum?: number;
  maximum?: number;
  description?: string;
};

/** One argument of a tool. */
type Parameter<T, Required extends boolean = boolean> = {
  readonly schema: ValueSchema;
  readonly required: Required;
  /** Of a text that is checked here, because it becomes part of a path. */
  readonly form?: Form<string>;
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

const required = <T>(
  schema: ValueSchema,
  description?: string,
  form?: Form<string>,
): Parameter<T, true> => ({
  schema: { ...schema, ...(description === undefined ? {} : { description }) },
  required: true,
  ...(form === undefined ? {} : { form }),
});

/** A text of 1 to 4,096 characters. */
export const text = (description?: string) => required<string>({ type: "string" }, description);

/** An account's address. */
export const address = (description?: string) =>
  required<string>({ type: "string" }, description, FORMS.address);

/** A transaction's signature. */
export const signature = (description?: string) =>
  required<string>({ type: "string" }, description, FORMS.signature);

/** A whole number from `minimum` to `maximum`. */
export const whole = (minimum: number, maximum: number, description?: string) =>
  required<number>({ type: "integer", minimum, maximum }, description);

/** True or false. */
export const flag = (description?: string) => required<boolean>({ type: "boolean" }, description);

/** One text of a list. */
export const oneOf = <const T extends ReadonlyArray<string>>(values: T, description?: string) =>
  required<T[number]>({ type: "string", enum: [...values] }, description);

/** A JSON object with any members. */
export const anyObject = (description?: string) =>
  required<{ readonly [name: string]: unknown }>({ type: "object" }, description);

/** The same argument, which may be left out. */
export const optional = <T>(parameter: Parameter<T, true>): Parameter<T, false> => ({
  ...parameter,
  required: false,
});

/** The most characters of any text argument. A transaction has 1,644 in base64, a task 4,096 bytes. */
const MAX_TEXT = 4096;

/** What is wrong with an argument's value, as the end of a sentence that begins with its name; null for nothing. */
const faultOf = ({ schema, form }: Parameter<unknown>, value: unknown): string | null => {
  const { type, enum: words, minimum = 0, maximum = 0 } = schema;
  if (words !== undefined)
    return words.includes(value as string) ? null : `must be one of ${words.join(", ")}`;
  if (type === "boolean") return typeof value === "boolean" ? null : "must be true or false";
  if (type === "object")
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? null
      : "must be an object";
  if (type === "integer")
    return Number.isInteger(value) && Number(value) >= minimum && Number(value) <= maximum
      ? null
      : `must be an integer from ${minimum} to ${maximum}`;
  if (typeof value !== "string") return "must be a string";
  if (value === "") return "must not be empty";
  if (value.length > MAX_TEXT) return `must have at most ${MAX_TEXT} characters`;
  return form === undefined || form.fits(value) ? null : `must be ${form.words}`;
};

/** The most faults of one call that are named. */
const MAX_FAULTS = 5;

/** The JSON Schema of a tool's arguments. */
export const inputSchema = (parameters: Parameters): ObjectSchema => {
  const needed = Object.keys(parameters).filter((name) => parameters[name]?.required);
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(parameters).map(([name, { schema }]) => [name, schema]),
    ),
    ...(needed.length === 0 ? {} : { required: needed }),
    additionalProperties: false,
  };
};

const faultsOf = (
  parameters: Parameters,
  given: Readonly<Record<string, unknown>>,
): ReadonlyArray<string> => {
  const faults = Object.entries(parameters).flatMap(([name, parameter]) => {
    if (!Object.hasOwn(given, name)) return parameter.required ? [`${name} is required`] : [];
    const fault = faultOf(parameter, given[name]);
    return fault === null ? [] : [`${name} ${fault}`];
  });
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(parameters, name));
  return [...faults, ...unknown.map((name) => `${shown(name)} is not known`)];
};

/**
 * The checked arguments of a call. @throws SettlementError `validation_failed`, which names up to five faults and
 * quotes no value.
 */
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
