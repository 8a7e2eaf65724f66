import { Config, Data, Option } from "effect";

/** What is wrong with one environment variable. A value is quoted only when it cannot be a secret. */
export type ConfigFault = {
  readonly variable: string;
  readonly problem: string;
  readonly expected: string;
};

/** The configuration is invalid. Lists every fault, not only the first. */
export class ConfigInvalid extends Data.TaggedError("ConfigInvalid")<{
  readonly faults: ReadonlyArray<ConfigFault>;
}> {}

/** One variable: its value, or why it has none. */
export type Reading<A> = { readonly value: A } | { readonly fault: ConfigFault };

/** How a variable's text is parsed. */
export type Kind<A> = {
  /** Undefined when the text does not fit `expected`. The text is trimmed. */
  readonly parse: (text: string) => A | undefined;
  /** Completes the sentence "expected ...". */
  readonly expected: string;
  /** The text may hold a credential, so messages never quote it. */
  readonly secret?: boolean;
};

/** A rejected text as messages quote it: control characters escaped, at most 60 characters. */
const quoted = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** What docs/settings.md says of a variable. */
export type Documented = {
  readonly name: string;
  readonly expected: string;
  /** The default, in words when `fallback` alone does not explain it. */
  readonly unset: string;
  /** What it is for, in Markdown. */
  readonly about: string;
};

/** A variable: how it is read, and what is said of it. */
export type Variable<A> = Config.Config<Reading<A>> & { readonly documented: Documented };

const unsetText = (fallback: unknown): string => {
  const values: ReadonlyArray<unknown> = Array.isArray(fallback) ? fallback : [fallback];
  return fallback === null || values.length === 0 ? "none" : `\`${values.join(", ")}\``;
};

/**
 * Reads one variable. Unset, empty and blank all give `fallback`. `unset` explains the default when the value alone
 * does not.
 */
export const variable = <A, B>(
  name: string,
  kind: Kind<A>,
  fallback: B,
  about: string,
  unset: string = unsetText(fallback),
): Variable<A | B> => {
  const config = Config.option(Config.String(name)).pipe(
    Config.map((given): Reading<A | B> => {
      const text = Option.getOrElse(given, () => "").trim();
      if (text === "") return { value: fallback };
      const value = kind.parse(text);
      if (value !== undefined) return { value };
      const problem = kind.secret === true ? "is set, but malformed" : `is ${quoted(text)}`;
      return { fault: { variable: name, problem, expected: kind.expected } };
    }),
  );
  return Object.assign(config, { documented: { name, expected: kind.expected, unset, about } });
};

type Values<R> = { [K in keyof R]: R[K] extends Reading<infer A> ? A : never };

/** Splits readings into values and faults. A faulty reading has no value. */
export const splitReadings = <R extends Readonly<Record<string, Reading<unknown>>>>(
  readings: R,
): { readonly values: Partial<Values<R>>; readonly faults: ReadonlyArray<ConfigFault> } => {
  const faults: Array<ConfigFault> = [];
  const values: Record<string, unknown> = {};
  for (const [key, reading] of Object.entries(readings)) {
    if ("fault" in reading) faults.push(reading.fault);
    else values[key] = reading.value;
  }
  return { values: values as Partial<Values<R>>, faults };
};

/** The faults as lines for the operator, one line each. */
export const faultLines = (faults: ReadonlyArray<ConfigFault>): ReadonlyArray<string> =>
  faults.map(({ variable, problem, expected }) => `${variable} ${problem}; expected ${expected}`);
