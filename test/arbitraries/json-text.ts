import fc from "fast-check";

const digits = (lengths: { readonly minLength: number; readonly maxLength: number }) =>
  fc.string({ unit: fc.constantFrom(..."0123456789".split("")), ...lengths });

/** Numbers in JSON text, many at the limits of a double's digits and exponents. */
export const numberText: fc.Arbitrary<string> = fc
  .record({
    sign: fc.constantFrom("", "-"),
    whole: fc.oneof(
      fc.constant("0"),
      fc
        .tuple(fc.constantFrom(..."123456789".split("")), digits({ minLength: 0, maxLength: 18 }))
        .map((parts) => parts.join("")),
    ),
    fraction: fc.oneof(
      fc.constant(""),
      digits({ minLength: 1, maxLength: 19 }).map((text) => `.${text}`),
    ),
    exponent: fc.oneof(
      { weight: 3, arbitrary: fc.constant("") },
      fc
        .tuple(
          fc.constantFrom("e", "E"),
          fc.constantFrom("", "+", "-"),
          fc.oneof(
            fc.nat({ max: 30 }),
            fc.constantFrom(275, 289, 290, 291, 292, 305, 306, 307, 308, 309, 310, 322, 323, 324),
          ),
        )
        .map((parts) => parts.join("")),
    ),
  })
  .map(({ sign, whole, fraction, exponent }) => sign + whole + fraction + exponent);

const stringText = fc
  .string({
    unit: fc.constantFrom(
      "a",
      "b",
      "\\u0061",
      "\\\\",
      '\\"',
      "\\/",
      "/",
      "~",
      "{",
      ",",
      ":",
      "1",
      "é",
    ),
    maxLength: 3,
  })
  .map((text) => `"${text}"`);

const space = fc.constantFrom("", "", "", " ", "\n");

/** Any JSON text, also with repeated or escaped names, numbers of any length, and deep nesting. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => {
  const member = fc
    .tuple(space, stringText, space, tie("value"))
    .map(([before, name, between, value]) => `${before}${name}${between}:${value}`);
  return {
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom("0", "true", "false", "null", '""', "[]", "{ }"),
      numberText,
      stringText,
      fc.array(tie("value"), { maxLength: 4 }).map((values) => `[${values.join(",")}]`),
      fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(",")}}`),
      fc
        .tuple(fc.integer({ min: 58, max: 66 }), tie("value"))
        .map(([depth, value]) => "[".repeat(depth) + value + "]".repeat(depth)),
    ),
  };
}).value;
