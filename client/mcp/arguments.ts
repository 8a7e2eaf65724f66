import { SettlementError } from "../settlement-error.ts";
import { shown } from "./shown.ts";
import type { ObjectSchema, Parameters, ValuesOf } from "./parameter.ts";

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
