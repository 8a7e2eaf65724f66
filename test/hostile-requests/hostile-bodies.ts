/** A body that is as expensive as its size allows. */
export type HostileBody = {
  readonly name: string;
  readonly text: string;
  /** Whether it breaks the JSON rules of every body, which is a 400. */
  readonly isMalformed: boolean;
};

type Values = Readonly<Record<string, unknown>>;

const bytesOf = (text: string): number => Buffer.byteLength(text);

const padded = (text: string, bytes: number): string => text + " ".repeat(bytes - bytesOf(text));

/** The beginning of an endless list of elements, with a comma after each, and where each ends in it. All in ASCII. */
type Elements = { text: string; readonly ends: Array<number> };

/** What has been made of each list: all operations take the same elements. */
const made = new Map<(i: number) => string, Elements>();

/** The elements of a list that have this many bytes at most, separated by commas. */
const elementsWithin = (bytes: number, part: (i: number) => string): string => {
  const known = made.get(part) ?? { text: "", ends: [] };
  made.set(part, known);
  const { ends } = known;
  const added: Array<string> = [];
  for (let end = ends.at(-1) ?? -1; end <= bytes;) {
    const next = part(ends.length);
    end += 1 + next.length;
    ends.push(end);
    added.push(`${next},`);
  }
  known.text += added.join("");
  // The last element that fits is found by halves.
  let [fits, others] = [0, ends.length];
  while (fits < others) {
    const middle = (fits + others) >> 1;
    if ((ends[middle] ?? 0) <= bytes) fits = middle + 1;
    else others = middle;
  }
  return known.text.slice(0, ends[fits - 1] ?? 0);
};

/** As many elements as fit between two texts, separated by commas and padded with spaces to exactly this size. */
const filled = (bytes: number, open: string, close: string, part: (i: number) => string): string =>
  padded(open + elementsWithin(bytes - bytesOf(open + close), part) + close, bytes);

/** A unit repeated between two texts to exactly this size. */
const stretched = (bytes: number, open: string, close: string, unit: string): string => {
  const times = Math.floor((bytes - bytesOf(open + close)) / bytesOf(unit));
  return padded(open + unit.repeat(times) + close, bytes);
};

const nested = (open: string, inner: string, close: string): string =>
  open.repeat(58) + inner + close.repeat(58);

const zero = (): string => "0";

/** Elements of a list. */
const ELEMENTS: Readonly<Record<string, (i: number) => string>> = {
  zeros: zero,
  texts: () => '""',
  "empty objects": () => "{}",
  "empty lists": () => "[]",
  "small objects": () => '{"":0}',
  "deep lists": () => nested("[", "", "]"),
  "deep objects": () => nested('{"":', "0", "}"),
  fractions: () => "1.0",
  "tiny numbers": () => "1E-308",
  "least numbers": () => "5.0e-324",
  "long numbers": (i) => `${(i + 1) / 7}0`,
};

/** The name of a member, which no example has: theirs have lower case letters. */
const nameOf = (i: number): string => i.toString(36).toUpperCase();

const simpleMember = (i: number): string => `"${nameOf(i)}":0`;

/** Members of an object, without repeated names. */
const MEMBERS: Readonly<Record<string, (i: number) => string>> = {
  members: simpleMember,
  "numbered members": (i) => `"${i * 97}":0`,
  "escaped names": (i) => `"\\u0061${i.toString(36)}":0`,
  "names to escape": (i) => `"~/${i.toString(36)}":0`,
  "names alike": (i) => `"${"p".repeat(300)}${i.toString(36)}":0`,
  "objects of objects": (i) => `"${nameOf(i)}":{"a":{},"b":[]}`,
};

/** The last member of an object, by its fault. The second list is well-formed JSON without an exact RFC 8785 form. */
const MALFORMED: Readonly<Record<string, string>> = {
  "a member twice at the end": '"a":0,"\\u0061":0',
  "a number too long at the end": '"":0.1000000000000000055',
  "nested too deeply at the end": `"":${"[".repeat(70)}${"]".repeat(70)}`,
  "no end": '"":',
};
const INEXACT: Readonly<Record<string, string>> = {
  "a lone surrogate at the end": '"":{"~/":["\\ud800"]}',
  "a number too large at the end": '"":{"~/":[9007199254740993]}',
};

const TEXTS: Readonly<Record<string, string>> = {
  letters: "x",
  "base58 digits": "z",
  "base58 ones": "1",
  "base64 digits": "A",
  "hex digits": "f",
  escapes: "\\u0041",
  backslashes: "\\\\",
  quotes: '\\"',
  flowers: "\u{1f338}",
  spaces: " ",
};

const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The members of an object as JSON without braces, with a comma after them if there are any. */
const membersOf = (values: Values): string => {
  const inside = JSON.stringify(values).slice(1, -1);
  return inside === "" ? "" : `${inside},`;
};

/** The object of a body that members can be added to: its free-form object, or the body itself. */
const placeIn = (example: Values) => {
  for (const [name, members] of Object.entries(example))
    if (isObject(members)) {
      const others = membersOf({ ...example, [name]: undefined });
      return { open: `{${others}${JSON.stringify(name)}:{`, members, close: "}}" };
    }
  return { open: "{", members: example, close: "}" };
};

/** Bodies of exactly this size with as many small values as fit. */
const denseBodies = (example: Values, bytes: number): ReadonlyArray<HostileBody> => {
  const { open, members, close } = placeIn(example);
  const start = open + membersOf(members);
  const body = (name: string, text: string, isMalformed = false): HostileBody => ({
    name: `${bytes} bytes, ${name}`,
    text,
    isMalformed,
  });
  const among = Object.entries(MEMBERS).map(([name, part]) =>
    body(name, filled(bytes, start, close, part)),
  );
  const listed = Object.entries(ELEMENTS).map(([name, part]) =>
    body(name, filled(bytes, `${start}"":[`, `]${close}`, part)),
  );
  const longName = `"${"n".repeat(bytes / 2)}"`;
  const named = filled(bytes, `${start}${longName}:[`, `]${close}`, zero);
  const faulty = [MALFORMED, INEXACT].flatMap((faults) =>
    Object.entries(faults).map(([name, end]) =>
      body(name, filled(bytes, start, `,${end}${close}`, simpleMember), faults === MALFORMED),
    ),
  );
  return [...among, ...listed, body("zeros under a long name", named), ...faulty];
};

/** Bodies of exactly this size, in which one text or number of the example in turn is as long as possible. */
const longBodies = (example: Values, bytes: number): ReadonlyArray<HostileBody> => {
  const { open, members, close } = placeIn(example);
  return Object.entries(members).flatMap(([field, value]) => {
    const start = `${open}${membersOf({ ...members, [field]: undefined })}${JSON.stringify(field)}:`;
    const body = (name: string, text: string): HostileBody => ({
      name: `${bytes} bytes, ${field} of ${name}`,
      text,
      isMalformed: false,
    });
    if (typeof value === "number")
      return [body("digits", stretched(bytes, `${start}1`, close, "0"))];
    if (typeof value !== "string") return [];
    return Object.entries(TEXTS).map(([name, unit]) =>
      body(name, stretched(bytes, `${start}"`, `"${close}`, unit)),
    );
  });
};

/** Many small values are read only up to this size, so they are the most expensive at it. */
const DENSE_BYTES = 32_768;

/** Bodies that may be expensive to parse, compare, hash, decode or refuse, made from a valid one. */
export const hostileBodies = (example: Values, maxBytes: number): ReadonlyArray<HostileBody> => [
  ...(maxBytes > DENSE_BYTES ? denseBodies(example, DENSE_BYTES) : []),
  ...denseBodies(example, maxBytes),
  ...longBodies(example, maxBytes),
];
