import { evaluate, type Scope } from "./expression.ts";

/** A Criterion Object of the types `simple` and `jsonpath`. */
export type Criterion = {
  readonly condition: string;
  readonly context?: string;
  readonly type?: string;
};

const COMPARISON = /^(\S+)\s*(==|!=)\s*('[^']*'|\S+)$/;

const literal = (text: string): unknown =>
  text.startsWith("'") ? text.slice(1, -1) : (JSON.parse(text) as unknown);

/**
 * Whether comparisons joined by `&&` hold; `valueOf` gives what their left sides mean. @throws Error for any other
 * condition.
 */
const holdAll = (comparisons: string, valueOf: (left: string) => unknown): boolean =>
  comparisons.split("&&").every((comparison) => {
    const [, left = "", operator, right] = COMPARISON.exec(comparison.trim()) ?? [];
    if (right === undefined) throw new Error(`unknown condition: ${comparison}`);
    const value = valueOf(left);
    return operator === "==" ? value === literal(right) : value !== literal(right);
  });

const FILTER = /^\$\[\?\((.+)\)\]$/;

/** Whether `$[?(…)]` selects a child of the value. A member that a child lacks equals nothing. */
const selects = (path: string, value: unknown): boolean => {
  const [, filter] = FILTER.exec(path) ?? [];
  if (filter === undefined) throw new Error(`unknown JSONPath: ${path}`);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some(
    (child) =>
      typeof child === "object" &&
      child !== null &&
      holdAll(filter, (left) => {
        const [, name] = /^@\.(\w+)$/.exec(left) ?? [];
        if (name === undefined) throw new Error(`unknown path in a filter: ${left}`);
        return (child as Record<string, unknown>)[name];
      }),
  );
};

/** Whether a criterion holds. @throws Error for a type or condition it does not know. */
export const holds = (
  { condition, context, type = "simple" }: Criterion,
  scope: Scope,
): boolean => {
  if (type === "simple") return holdAll(condition, (left) => evaluate(left, scope));
  if (type !== "jsonpath" || context === undefined) throw new Error(`unknown criterion: ${type}`);
  return selects(condition, evaluate(context, scope));
};
