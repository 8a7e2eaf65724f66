import Ajv2020, { type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A schema, or an object of schemas, whose objects allow only the declared members. The document leaves
 * answers open, for clients of later versions; this version answers with declared members only.
 */
const closed = (part: unknown): unknown => {
  if (Array.isArray(part)) return part.map(closed);
  if (!isObject(part)) return part;
  const { type, properties, additionalProperties } = part;
  const isOpenByDefault =
    type === "object" &&
    isObject(properties) &&
    Object.keys(properties).length > 0 &&
    additionalProperties === undefined;
  return {
    ...Object.fromEntries(Object.entries(part).map(([key, inner]) => [key, closed(inner)])),
    ...(isOpenByDefault ? { additionalProperties: false } : {}),
  };
};

const made = new Map<string, ReturnType<typeof validatorsOf>>();

const validatorsOf = (components: unknown) => {
  // Neither option changes a verdict. Compiling is what takes the time, and most schemas are checked a few times.
  const options = { inlineRefs: false, code: { optimize: false } };
  const ajv = new Ajv2020({ strict: false, allErrors: true, ...options });
  addFormats(ajv);
  ajv.addSchema({ $id: "openapi", components: closed(components) });
  const validators = new Map<string, ValidateFunction>();
  return (schema: Json, value: unknown): string => {
    const text = JSON.stringify(closed(schema)).replaceAll('"#/components', '"openapi#/components');
    const validate = validators.get(text) ?? ajv.compile(JSON.parse(text) as Json);
    validators.set(text, validate);
    return validate(value) ? "" : ajv.errorsText(validate.errors);
  };
};

/**
 * A function that returns the faults of a value under a schema of an OpenAPI document with these components, ""
 * without faults. Files that run in one process share it, so that each schema is compiled once.
 */
export const documentSchemas = (components: unknown) => {
  const text = JSON.stringify(components);
  const faultOf = made.get(text) ?? validatorsOf(components);
  made.set(text, faultOf);
  return faultOf;
};
