/** What runtime expressions refer to (Arazzo 1.0.1, "Runtime Expressions"). */
export type Scope = {
  readonly inputs: Readonly<Record<string, unknown>>;
  /** The outputs of each step that ran. */
  readonly steps: ReadonlyMap<string, ReadonlyMap<string, unknown>>;
  readonly answer?: {
    readonly status: number;
    readonly headers: Headers;
    readonly body: unknown;
  };
};

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined;

/** The value at a JSON pointer (RFC 6901), undefined where there is none. */
export const atPointer = (value: unknown, pointer: string): unknown =>
  pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce(memberOf, value);

const NAME = /^\$inputs\.([\w.-]+)$/;
const OUTPUT = /^\$steps\.([\w-]+)\.outputs\.([\w.-]+)$/;
const BODY = /^\$response\.body(?:#(\/.*)?)?$/;
const HEADER = /^\$response\.header\.(.+)$/;

/**
 * The value of a runtime expression; undefined where there is none. @throws Error for an expression it does not know.
 */
export const evaluate = (expression: string, { inputs, steps, answer }: Scope): unknown => {
  const [, input] = NAME.exec(expression) ?? [];
  if (input !== undefined) return inputs[input];
  const [, step = "", output] = OUTPUT.exec(expression) ?? [];
  if (output !== undefined) return steps.get(step)?.get(output);
  if (expression === "$statusCode") return answer?.status;
  const [, header] = HEADER.exec(expression) ?? [];
  if (header !== undefined) return answer?.headers.get(header) ?? undefined;
  const body = BODY.exec(expression);
  if (body !== null) return atPointer(answer?.body, body[1] ?? "");
  throw new Error(`unknown runtime expression: ${expression}`);
};

/**
 * A value whose texts that are runtime expressions are replaced by what they mean. @throws Error where one has no
 * value.
 */
export const filledIn = (value: unknown, scope: Scope): unknown => {
  if (typeof value === "string" && value.startsWith("$")) {
    const found = evaluate(value, scope);
    if (found === undefined) throw new Error(`no value of ${value}`);
    return found;
  }
  if (Array.isArray(value)) return value.map((item) => filledIn(item, scope));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, filledIn(part, scope)]),
  );
};
