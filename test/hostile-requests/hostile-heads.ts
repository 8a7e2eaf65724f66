import { type DocumentedOperation, neededQuery, usualTarget } from "./documented-operations.ts";

/** A request head that is as expensive as its size allows. */
export type HostileHead = {
  readonly name: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** Bytes that Bun's server allows for the longest part of a head and a needed query, of 16 KiB in all. */
const ROOM = 15_800;

type Repeated = (unit: string) => string;

const SEGMENTS: Readonly<Record<string, string>> = {
  letters: "z",
  ones: "1",
  escapes: "%7a",
  "broken escapes": "%",
  flowers: "%F0%9F%8C%B8",
};

/** Values of headers that the service reads. */
const headersOf = (repeated: Repeated): ReadonlyArray<readonly [string, string]> => [
  ["accept", repeated("a/b,")],
  ["accept", repeated("*/*;q=0,")],
  ["accept", `application/json${repeated(";q=1")}`],
  ["accept", `application/json;q=1${repeated(" ")}x`],
  ["content-type", `application/json${repeated(" ")}x`],
  ["content-type", `application/json;charset=utf-8${repeated(" ")}x`],
  ["content-type", `application/json${repeated(";")}`],
  ["content-encoding", `${repeated("\u00a0")}x`],
  ["if-none-match", repeated('"x",')],
  ["if-none-match", repeated("W/,")],
  ["x-request-id", repeated("x")],
  ["idempotency-key", repeated("x")],
  ["last-event-id", repeated("1")],
  ["origin", repeated("x")],
  ["x-forwarded-for", repeated("127.0.0.1, ")],
  ["x-forwarded-host", repeated("a.")],
];

const named = (path: string, segment: string): string => path.replace(/\{[^}]+\}/g, () => segment);

/**
 * Requests to an operation with the longest path, query and headers that the server reads, and with the largest numbers
 * that its query allows. Uses `address` where the path needs one.
 */
export const hostileHeads = (
  operation: DocumentedOperation,
  address: string,
): ReadonlyArray<HostileHead> => {
  const { path, parameters } = operation;
  const needed = neededQuery(operation);
  const segments = path.split("{").length - 1;
  const room = ROOM - needed.length;
  const within = (bytes: number, unit: string) =>
    unit.repeat(Math.floor(bytes / Buffer.byteLength(unit)));
  const repeated: Repeated = (unit) => within(room, unit);
  const asking = (query: string, but = ""): string => {
    const others = neededQuery(operation, but);
    return `${named(path, address)}${others === "" ? "?" : `${others}&`}${query}`;
  };
  const query = parameters.filter((parameter) => parameter.in === "query");
  const inPath =
    segments === 0
      ? []
      : Object.entries(SEGMENTS).map(([kind, unit]) => [
          `a path of ${kind}`,
          named(path, within(room / segments, unit)) + needed,
        ]);
  const inQuery = query.flatMap(({ name, schema }) => [
    [`${name} of letters`, asking(`${name}=${repeated("z")}`, name)],
    [`${name} of escapes`, asking(`${name}=${repeated("%7a")}`, name)],
    [`${name} repeated`, asking(repeated(`${name}=1&`), name)],
    ...(schema.maximum === undefined
      ? []
      : [[`${name} of ${schema.maximum}`, asking(`${name}=${schema.maximum}`, name)]]),
  ]);
  const strangers = Array.from({ length: ROOM / 5 }, (_, i) => i.toString(36)).join("&");
  const targets = [
    ...inPath,
    ...inQuery,
    ["a query of strangers", asking(strangers.slice(0, ROOM - needed.length))],
    ["a query of separators", asking(repeated("&"))],
  ].map(([name = "", target = ""]) => ({ name, target, headers: {} }));
  const headed = headersOf(repeated).map(([name, value]) => ({
    name: `${name}: ${value.slice(0, 20)}…`,
    target: usualTarget(operation, address),
    headers: { [name]: value },
  }));
  return [...targets, ...headed];
};
