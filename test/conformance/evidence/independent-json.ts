/** A JSON value of the independent verifier. Whole numbers up to 2^53 - 1 are bigints, all others numbers. Objects are maps, so that no member name is special. */
export type Value = string | bigint | number | boolean | null | Array<Value> | ObjectValue;
export type ObjectValue = Map<string, Value>;

const ESCAPED: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** Reads JSON in the form of evidence packets: numbers as RFC 8785 writes them, and no member twice. @throws Error */
export const readJson = (text: string): Value => {
  let at = 0;
  const refuse = (): never => {
    throw new Error(`no packet's JSON at ${at}`);
  };
  const space = (): void => {
    while (at < text.length && " \t\r\n".includes(text.charAt(at))) at++;
  };
  const take = (token: string): void => {
    if (!text.startsWith(token, at)) refuse();
    at += token.length;
  };
  const string = (): string => {
    take('"');
    let out = "";
    for (;;) {
      const c = text.charAt(at++);
      if (c === "" || c < " ") refuse();
      if (c === '"') break;
      if (c !== "\\") out += c;
      else {
        const kind = text.charAt(at++);
        if (kind === "u") {
          const hex = text.slice(at, at + 4);
          if (!/^[0-9a-fA-F]{4}$/.test(hex)) refuse();
          out += String.fromCharCode(Number.parseInt(hex, 16));
          at += 4;
        } else out += ESCAPED[kind] ?? refuse();
      }
    }
    if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(out))
      refuse();
    return out;
  };
  const value = (): Value => {
    space();
    const c = text.charAt(at);
    if (c === '"') return string();
    if (c === "{") {
      at++;
      const members: ObjectValue = new Map();
      for (let first = true; ; first = false) {
        space();
        if (text.charAt(at) === "}" && (first || members.size === 0)) break;
        const name = string();
        if (members.has(name)) refuse();
        space();
        take(":");
        members.set(name, value());
        space();
        if (text.charAt(at) !== ",") break;
        at++;
      }
      take("}");
      return members;
    }
    if (c === "[") {
      at++;
      const items: Array<Value> = [];
      space();
      if (text.charAt(at) !== "]")
        for (;;) {
          items.push(value());
          space();
          if (text.charAt(at) !== ",") break;
          at++;
        }
      take("]");
      return items;
    }
    const word = /^(?:true|false|null|-?[0-9][0-9.eE+-]*)/.exec(text.slice(at, at + 400))?.[0];
    if (word === undefined) return refuse();
    at += word.length;
    if (word === "true" || word === "false") return word === "true";
    if (word === "null") return null;
    const number = Number(word);
    if (String(number) !== word) refuse();
    return Number.isSafeInteger(number) ? BigInt(word) : number;
  };
  const whole = value();
  space();
  return at === text.length ? whole : refuse();
};

const written = (text: string): string => {
  let out = '"';
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const short = '\b\t\n\f\r"\\'.indexOf(text.charAt(i));
    if (short >= 0) out += `\\${'btnfr"\\'.charAt(short)}`;
    else if (code < 32) out += `\\u00${code.toString(16).padStart(2, "0")}`;
    else out += text.charAt(i);
  }
  return `${out}"`;
};

/** RFC 8785 of a value. Names are sorted by UTF-16 code units. */
export const writeCanonical = (value: Value): string => {
  if (typeof value === "string") return written(value);
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(writeCanonical).join(",")}]`;
  const units = (name: string) => Buffer.from(name, "utf16le").swap16();
  const names = [...value.keys()].sort((a, b) => Buffer.compare(units(a), units(b)));
  const members = names.map(
    (name) => `${written(name)}:${writeCanonical(value.get(name) ?? null)}`,
  );
  return `{${members.join(",")}}`;
};
