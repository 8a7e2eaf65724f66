import { TRUST_VERSION } from "../../../../core/domain/evidence/evidence-check.ts";

/** What a document can be to the verifier. */
export type Kind =
  | "packet"
  | "call"
  | "equivocation"
  | "fraud"
  | "trust"
  | "proof"
  | "payload"
  | "unknown";

/** A document that somebody gave, character by character. */
export type Given = {
  /** A file's name, or where the document is from. */
  readonly name: string;
  readonly text: string;
  /** Who handed it out, a service by its address; null for a document of the reader's own. */
  readonly service: string | null;
};

/** A document and what it was taken for. */
export type Recognised = Given & { readonly kind: Kind };

/** What people read for each kind. */
export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  packet: "evidence packet",
  call: "evidence of a call",
  equivocation: "evidence against an attestor",
  fraud: "evidence against a log",
  trust: "trust document",
  proof: "proof of the log",
  payload: "delivery payload",
  unknown: "not recognised",
};

const VERSIONED: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/^settlement-evidence-call-v/, "call"],
  [/^settlement-evidence-equivocation-v/, "equivocation"],
  [/^settlement-evidence-fraud-v/, "fraud"],
];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const kindOfObject = (members: Readonly<Record<string, unknown>>): Kind => {
  const { version, data, signature } = members;
  if (typeof version === "string") {
    const [, kind] = VERSIONED.find(([pattern]) => pattern.test(version)) ?? [];
    if (kind !== undefined) return kind;
  }
  if (isObject(data) && isObject(signature)) return "packet";
  const isTrust =
    Object.hasOwn(members, "jwks") || (version === TRUST_VERSION && "genesis_hash" in members);
  return isTrust ? "trust" : "payload";
};

/** What a document is, by its content alone: a JSON object's version and members, or a proof's first line. */
export const kindOf = (text: string): Kind => {
  if (text.startsWith("c2sp.org/tlog-proof@")) return "proof";
  const value = parsed(text);
  return isObject(value) ? kindOfObject(value) : "unknown";
};

/** A document with its kind. */
export const recognised = (given: Given): Recognised => ({ ...given, kind: kindOf(given.text) });

/** A file's bytes as a document. A byte order mark stays, and bytes that are no UTF-8 give null: no verifier reads them. */
export const givenBytes = (name: string, bytes: Uint8Array<ArrayBuffer>): Given | null => {
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return { name, text: decoder.decode(bytes), service: null };
  } catch {
    return null;
  }
};

/** The documents with one more. It takes the place of one of its kind; what is not recognised stays beside the others. */
export const withDocument = (
  documents: ReadonlyArray<Recognised>,
  given: Given,
): ReadonlyArray<Recognised> => {
  const added = recognised(given);
  const others = documents.filter(
    ({ kind, name }) => kind !== added.kind || (kind === "unknown" && name !== added.name),
  );
  return [...others, added];
};
