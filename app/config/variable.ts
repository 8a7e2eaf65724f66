import { Config, Data, Option } from "effect";

/** What is wrong with one environment variable; a value is quoted only where it cannot be a secret. */
export type ConfigFault = {
  readonly variable: string;
  readonly problem: string;
  readonly expected: string;
};

/** The configuration cannot be used; every fault is listed, not only the first. */
export class ConfigInvalid extends Data.TaggedError("ConfigInvalid")<{
  readonly faults: ReadonlyArray<ConfigFault>;
}> {}

/** One variable read: its value, or why there is none. */
export type Reading<A> = { readonly value: A } | { readonly fault: ConfigFault };

/** How a variable's text becomes its value. */
export type Kind<A> = {
  /** Undefined when the text is not what `expected` says. The text has no white space around it. */
  readonly parse: (text: string) => A | undefined;
  /** Completes the sentence "expected ...". */
  readonly expected: string;
  /** The text may hold a credential and is never repeated. */
  readonly secret?: boolean;
};

/** What a message quotes of a rejected text: control characters escaped, and not too long. */
const quoted = (text: string): string =>
  JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** Reads one variable; unset, empty and blank all mean `fallback`. */
export const variable = <A, B>(
  name: string,
  kind: Kind<A>,
  fallback: B,
): Config.Config<Reading<A | B>> =>
  Config.option(Config.String(name)).pipe(
    Config.map((found): Reading<A | B> => {
      const text = Option.getOrElse(found, () => "").trim();
      if (text === "") return { value: fallback };
      const value = kind.parse(text);
      if (value !== undefined) return { value };
      const problem = kind.secret === true ? "is set, but malformed" : `is ${quoted(text)}`;
      return { fault: { variable: name, problem, expected: kind.expected } };
    }),
  );

type Values<R> = { [K in keyof R]: R[K] extends Reading<infer A> ? A : never };

/** Splits readings into the values there are and all faults; a faulty reading has no value. */
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

/** The faults as lines for the operator, one each. */
export const faultLines = (faults: ReadonlyArray<ConfigFault>): ReadonlyArray<string> =>
  faults.map(({ variable, problem, expected }) => `${variable} ${problem}; expected ${expected}`);
