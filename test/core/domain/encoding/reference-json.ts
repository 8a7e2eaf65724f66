/** The tokens of a text that `JSON.parse` accepts. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|[a-z]+|[{}[\],:]/gs;

type Decimal = { readonly digits: bigint; readonly power: number };

/** A number in JSON or ECMAScript form, as a whole number times a power of ten. */
const decimalOf = (written: string): Decimal => {
  const [mantissa = "", exponent = "0"] = written.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), power: Number(exponent) - fraction.length };
};

const areEqual = (a: Decimal, b: Decimal): boolean => {
  if (a.digits === 0n || b.digits === 0n) return a.digits === b.digits;
  const least = Math.min(a.power, b.power);
  const scaled = ({ digits, power }: Decimal) => digits * 10n ** BigInt(power - least);
  return scaled(a) === scaled(b);
};

/** Whether a number keeps its value as a double, by arithmetic on whole numbers of any length. */
export const referenceIsExact = (token: string): boolean => {
  const value = Number(token);
  return Number.isFinite(value) && areEqual(decimalOf(token), decimalOf(String(value)));
};

/** The fault of a text that must be readable in one way only, undefined without one. Slow and simple. */
export const referenceFault = (text: string): string | undefined => {
  try {
    JSON.parse(text);
  } catch {
    return "is not JSON";
  }
  const tokens = text.match(TOKEN) ?? [];
  const names: Array<Array<string>> = [];
  for (const [i, token] of tokens.entries()) {
    if (token === "{" || token === "[") {
      if (names.length === 64) return "is nested too deeply";
      names.push([]);
    } else if (token === "}" || token === "]") {
      names.pop();
    } else if (tokens[i + 1] === ":") {
      const name = JSON.parse(token) as string;
      if (names.at(-1)?.includes(name) === true) return "has a member twice";
      names.at(-1)?.push(name);
    } else if (/^[-0-9]/.test(token)) {
      const isLarge = Math.abs(Number(token)) > Number.MAX_SAFE_INTEGER;
      if (!isLarge && !referenceIsExact(token))
        return "has a number that JSON does not carry exactly";
    }
  }
  return undefined;
};
