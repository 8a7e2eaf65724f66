import type { HttpOutline, OperationOutline, Schema } from "./http-outline.ts";

/**
 * Who reads what the schema describes. A request is written by yesterday's client for today's service, so today's must
 * take all that yesterday's took. An answer is read by yesterday's client, so today's must be one of yesterday's, but for
 * members and names of a list that are new: a client passes over what it does not know (docs/releases.md).
 */
type Side = "request" | "answer";

const LOWER = ["minLength", "minimum", "minItems"] as const;
const UPPER = ["maxLength", "maximum", "maxItems"] as const;
const SAME = ["pattern", "format", "contentEncoding", "additionalProperties"] as const;

/** What is wrong with today's contract for who knows yesterday's, a line each; none where only things were added. */
export const httpFaults = (then: HttpOutline, now: HttpOutline): ReadonlyArray<string> => {
  const seen = new Set<string>();

  const resolved = (schema: Schema, { schemas }: HttpOutline): Schema => {
    const name = /^#(.+)$/.exec(String(schema["$ref"]))?.[1];
    return name === undefined ? schema : resolved(schemas[name] ?? {}, { operations: {}, schemas });
  };
  /** The forms that a value may have. Several constants are one list. */
  const forms = (schema: Schema, outline: HttpOutline): ReadonlyArray<Schema> => {
    const whole = resolved(schema, outline);
    if ("const" in whole) return [{ enum: [whole["const"]] }];
    if (!Array.isArray(whole["anyOf"])) return [whole];
    const all = (whole["anyOf"] as ReadonlyArray<Schema>).flatMap((each) => forms(each, outline));
    const named = all.flatMap((each) => (each["enum"] as ReadonlyArray<unknown> | undefined) ?? []);
    const others = all.filter((each) => !("enum" in each));
    return named.length === 0 ? others : [{ enum: named }, ...others];
  };

  const members = (schema: Schema): Readonly<Record<string, Schema>> =>
    (schema["properties"] ?? {}) as Readonly<Record<string, Schema>>;
  const required = (schema: Schema): ReadonlyArray<string> =>
    (schema["required"] ?? []) as ReadonlyArray<string>;

  const formFaults = (old: Schema, next: Schema, side: Side, at: string): ReadonlyArray<string> => {
    const faults: Array<string> = [];
    const [narrow, wide] = side === "request" ? [old, next] : [next, old];
    if ("enum" in old || "enum" in next) {
      const [before, after] = [old, next].map(
        (each) => (each["enum"] ?? []) as ReadonlyArray<unknown>,
      ) as [ReadonlyArray<unknown>, ReadonlyArray<unknown>];
      for (const value of before)
        if (!after.includes(value)) faults.push(`${at}: ${JSON.stringify(value)} is gone`);
      const isFixed = side === "answer" && before.length < 2;
      if (isFixed && after.length > before.length) faults.push(`${at}: is no constant any more`);
      return faults;
    }
    const isSameType =
      old["type"] === next["type"] ||
      (narrow["type"] === "integer" && wide["type"] === "number") ||
      wide["type"] === undefined;
    if (!isSameType) return [`${at}: was ${String(old["type"])}, is ${String(next["type"])}`];
    // Only of a schema that a request has are limits in the outline.
    for (const name of LOWER)
      if (Number(wide[name] ?? -Infinity) > Number(narrow[name] ?? -Infinity))
        faults.push(`${at}: ${name} is ${String(next[name])}, was ${String(old[name])}`);
    for (const name of UPPER)
      if (Number(wide[name] ?? Infinity) < Number(narrow[name] ?? Infinity))
        faults.push(`${at}: ${name} is ${String(next[name])}, was ${String(old[name])}`);
    for (const name of SAME)
      if (wide[name] !== undefined && JSON.stringify(wide[name]) !== JSON.stringify(narrow[name]))
        faults.push(`${at}: ${name} has changed`);
    for (const [name, schema] of Object.entries(members(old))) {
      const today = members(next)[name];
      if (today === undefined) faults.push(`${at}/${name}: is gone`);
      else faults.push(...schemaFaults(schema, today, side, `${at}/${name}`));
    }
    for (const name of required(wide))
      if (!required(narrow).includes(name))
        faults.push(`${at}/${name}: is ${side === "request" ? "required" : "optional"} now`);
    if (old["items"] !== undefined)
      faults.push(
        ...schemaFaults(old["items"] as Schema, (next["items"] ?? {}) as Schema, side, `${at}/*`),
      );
    return faults;
  };

  const schemaFaults = (
    old: Schema,
    next: Schema,
    side: Side,
    at: string,
  ): ReadonlyArray<string> => {
    const pair = `${side} ${String(old["$ref"])} ${String(next["$ref"])}`;
    if ("$ref" in old && "$ref" in next) {
      if (seen.has(pair)) return [];
      seen.add(pair);
    }
    const [before, after] = [forms(old, then), forms(next, now)];
    const [narrow, wide] = side === "request" ? [before, after] : [after, before];
    return narrow.flatMap((form) => {
      const tries = wide.map((other) =>
        side === "request" ? formFaults(form, other, side, at) : formFaults(other, form, side, at),
      );
      const [closest = [`${at}: has a form that it had not`]] = tries.toSorted(
        (a, b) => a.length - b.length,
      );
      return closest;
    });
  };

  const contentFaults = (
    old: Readonly<Record<string, Schema>>,
    next: Readonly<Record<string, Schema>>,
    side: Side,
    at: string,
  ): ReadonlyArray<string> =>
    Object.entries(old).flatMap(([type, schema]) => {
      const today = next[type];
      if (today === undefined) return [`${at}: no ${type} any more`];
      return schemaFaults(schema, today, side, at);
    });

  const byStatus = ({ answers }: OperationOutline) =>
    new Map(
      Object.entries(answers).flatMap(([statuses, answer]) =>
        statuses.split(",").map((status) => [status, answer] as const),
      ),
    );

  const operationFaults = (name: string, old: OperationOutline): ReadonlyArray<string> => {
    const next = now.operations[name];
    if (next === undefined) return [`${name}: is gone`];
    const faults = next.id === old.id ? [] : [`${name}: its operationId was ${old.id}`];
    for (const [parameter, { required: isNeeded, schema }] of Object.entries(old.parameters)) {
      const today = next.parameters[parameter];
      if (today === undefined) faults.push(`${name}: the parameter ${parameter} is gone`);
      else
        faults.push(
          ...(today.required && !isNeeded ? [`${name}: ${parameter} is required now`] : []),
          ...schemaFaults(schema, today.schema, "request", `${name} ${parameter}`),
        );
    }
    for (const [parameter, { required: isNeeded }] of Object.entries(next.parameters))
      if (isNeeded && !Object.hasOwn(old.parameters, parameter))
        faults.push(`${name}: ${parameter} is required and new`);
    if (next.body?.required === true && old.body?.required !== true)
      faults.push(`${name}: a body is required now`);
    if (old.body !== null)
      faults.push(
        ...contentFaults(old.body.content, next.body?.content ?? {}, "request", `${name} body`),
      );
    const today = byStatus(next);
    for (const [status, { headers, content }] of byStatus(old)) {
      const answer = today.get(status);
      const at = `${name} ${status}`;
      if (answer === undefined) faults.push(`${at}: is answered no more`);
      else
        faults.push(
          ...headers
            .filter((header) => !answer.headers.includes(header))
            .map((header) => `${at}: has no ${header} any more`),
          ...contentFaults(content, answer.content, "answer", at),
        );
    }
    return faults;
  };

  return Object.entries(then.operations).flatMap(([name, old]) => operationFaults(name, old));
};
