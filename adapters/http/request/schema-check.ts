import { Kind, type Static, type TObject, type TSchema } from "@sinclair/typebox";
import { TypeCompiler, type ValueError, ValueErrorType } from "@sinclair/typebox/compiler";
import { echoed } from "../../../core/domain/encoding/foreign-text.ts";
import type { RequestFault } from "../problems/http-failures.ts";
import { once } from "../server/once.ts";

/** The most faults of one request that are named. */
export const MAX_FAULTS = 20;
/** Of an object with more members than these, none is listed. */
const MAX_LISTED = 12;

const oneOf = (schema: TSchema): string => {
  const parts: ReadonlyArray<TSchema> = Array.isArray(schema["anyOf"]) ? schema["anyOf"] : [];
  if (parts.map((part) => part[Kind]).join() === "String,Null") return "must be a string or null";
  const values = parts.flatMap((part) => (part[Kind] === "Literal" ? [String(part["const"])] : []));
  return values.length > 0 ? `must be one of ${values.join(", ")}` : "has the wrong type";
};

const unknownIn = ({ properties }: TSchema): string => {
  const names = Object.keys(properties ?? {});
  if (names.length === 0) return "is not known; none is";
  return names.length > MAX_LISTED
    ? "is not known"
    : `is not known; known ${names.length === 1 ? "is" : "are"} ${names.join(", ")}`;
};

/** What is wrong, by the kinds of fault that the contract's schemas can meet. */
const DETAILS: { readonly [T in ValueErrorType]?: (schema: TSchema) => string } = {
  [ValueErrorType.ObjectRequiredProperty]: () => "is required",
  [ValueErrorType.ObjectAdditionalProperties]: unknownIn,
  [ValueErrorType.Object]: () => "must be an object",
  [ValueErrorType.String]: () => "must be a string",
  [ValueErrorType.Boolean]: () => "must be true or false",
  [ValueErrorType.Integer]: () => "must be an integer",
  [ValueErrorType.IntegerMinimum]: ({ minimum }) => `must be at least ${minimum}`,
  [ValueErrorType.IntegerMaximum]: ({ maximum }) => `must be at most ${maximum}`,
  [ValueErrorType.StringMinLength]: ({ minLength }) => `must have at least ${minLength} characters`,
  [ValueErrorType.StringMaxLength]: ({ maxLength }) => `must have at most ${maxLength} characters`,
  [ValueErrorType.Literal]: (schema) => `must be ${schema["const"]}`,
  [ValueErrorType.Union]: oneOf,
};

/** For a nullable string out of bounds: the string schema's fault, not the union's. */
const textFault = ({ type, schema, value, errors }: ValueError): ValueError | undefined => {
  if (type !== ValueErrorType.Union || typeof value !== "string") return undefined;
  const member = schema["anyOf"].findIndex((part: TSchema) => part[Kind] === "String");
  return errors[member]?.First();
};

const detailOf = (error: ValueError): string => {
  const { type, schema } = textFault(error) ?? error;
  return DETAILS[type]?.(schema) ?? "is not valid";
};

/** Where a fault is. The name of an unknown member is the caller's. */
const pointerOf = ({ type, path }: ValueError): string => {
  if (type !== ValueErrorType.ObjectAdditionalProperties) return path;
  const from = path.lastIndexOf("/") + 1;
  return path.slice(0, from) + echoed(path.slice(from));
};

/** A value of a schema, or its faults. Fault texts quote no value. */
export type Checked<T> = { readonly value: T } | { readonly faults: ReadonlyArray<RequestFault> };

/** A check by a schema, which is compiled at the first value. Nothing is coerced, filled in or stripped. */
export const schemaCheck = <S extends TObject>(
  schema: S,
): ((value: unknown) => Checked<Static<S>>) => {
  const compiled = once(() => TypeCompiler.Compile(schema));
  return (value) => {
    if (compiled().Check(value)) return { value };
    const faults = new Map<string, string>();
    for (const error of compiled().Errors(value)) {
      const pointer = pointerOf(error);
      if (!faults.has(pointer)) faults.set(pointer, detailOf(error));
      if (faults.size >= MAX_FAULTS) break;
    }
    return { faults: [...faults].map(([pointer, detail]) => ({ pointer, detail })) };
  };
};
