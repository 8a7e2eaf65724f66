import { type Node, parseSync } from "oxc-parser";

/** One small change of a source file. */
export type Mutant = {
  /** The file's path below the root. */
  readonly file: string;
  /** The line of the change, from 1. */
  readonly line: number;
  /** The operator's name, such as `swap-comparison`. */
  readonly operator: string;
  /** Where the change begins and ends, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
};

type Change = Pick<Mutant, "operator" | "start" | "end" | "replacement">;

const COMPARISONS: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
};

/** Calls whose effect is text for people or a trace. A user of the service does not notice their absence. */
const IS_TELLING = /^(yield\* |await |void )*(Effect\.(log|annotate|withSpan)|console\.)/;
/** Members of a contract that are text for people. */
const IS_DESCRIPTION = /^(description|summary|title|examples?|documentation|x-.*)$/;

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;

/** The nodes directly below a node, without types. */
const childrenOf = (node: Node): ReadonlyArray<Node> =>
  Object.values(node as unknown as Record<string, unknown>)
    .flat()
    .filter(isNode)
    .filter(({ type }) => !type.startsWith("TS") || /^TS(As|Satisfies|NonNull)/.test(type));

const isSkipped = (node: Node): boolean =>
  node.type === "ImportDeclaration" ||
  (node.type === "Property" &&
    node.key.type === "Identifier" &&
    IS_DESCRIPTION.test(node.key.name));

/** Whether leaving a block ends its function, loop or branch early. */
const leaves = (node: Node): boolean => {
  const last = node.type === "BlockStatement" ? node.body.at(-1) : node;
  return /^(Return|Throw|Continue|Break)Statement$/.test(last?.type ?? "");
};

const changesOf = (node: Node, text: string): ReadonlyArray<Change> => {
  const source = ({ start, end }: Node): string => text.slice(start, end);
  const replace = (operator: string, { start, end }: Node, replacement: string): Change => ({
    operator,
    start,
    end,
    replacement,
  });
  if (node.type === "IfStatement") {
    const negated = replace("negate-condition", node.test, `!(${source(node.test)})`);
    if (node.alternate !== null || !leaves(node.consequent)) return [negated];
    return [negated, replace("drop-guard", node, ";")];
  }
  if (node.type === "ConditionalExpression" || node.type === "WhileStatement")
    return [replace("negate-condition", node.test, `!(${source(node.test)})`)];
  if (node.type === "BinaryExpression") {
    const other = COMPARISONS[node.operator];
    const start = text.indexOf(node.operator, node.left.end);
    if (other === undefined || start === -1) return [];
    const end = start + node.operator.length;
    return [{ operator: "swap-comparison", start, end, replacement: other }];
  }
  if (node.type === "LogicalExpression" && node.operator === "??")
    return [
      replace("never-default", node, `(${source(node.left)} as never)`),
      replace("always-default", node, `(${source(node.right)})`),
    ];
  if (node.type === "LogicalExpression") {
    const other = node.operator === "&&" ? "||" : "&&";
    // In parentheses, since && and || may not stand beside ?? without them.
    const changed = `((${source(node.left)}) ${other} (${source(node.right)}))`;
    return [replace("swap-logical", node, changed)];
  }
  if (node.type === "ExpressionStatement" && node.expression.type !== "Literal")
    return [replace("drop-statement", node, ";")];
  if (node.type === "Literal") {
    if (typeof node.value === "number") return [replace("add-one", node, `(${source(node)} + 1)`)];
    if (typeof node.value === "bigint") return [replace("add-one", node, `(${source(node)} + 1n)`)];
    if (typeof node.value === "boolean") return [replace("flip-boolean", node, `${!node.value}`)];
  }
  if (node.type === "BlockStatement") {
    const [first, second] = node.body;
    if (first?.type !== "ExpressionStatement" || second === undefined) return [];
    return [replace("return-early", first, `return; ${source(first)}`)];
  }
  return [];
};

/** Every mutant of a source file, in the order of their places. Log texts, spans, descriptions and types have none. */
export const mutantsOf = (file: string, text: string): ReadonlyArray<Mutant> => {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  const found: Array<Mutant> = [];
  const walk = (node: Node): void => {
    if (isSkipped(node)) return;
    if (node.type === "ExpressionStatement" && IS_TELLING.test(text.slice(node.start, node.end)))
      return;
    for (const change of changesOf(node, text)) {
      const line = text.slice(0, change.start).split("\n").length;
      found.push({ file, line, ...change });
    }
    for (const child of childrenOf(node)) walk(child);
  };
  walk(program);
  return found;
};

/** The text of a file with one change. */
export const mutated = (text: string, { start, end, replacement }: Mutant): string =>
  text.slice(0, start) + replacement + text.slice(end);
