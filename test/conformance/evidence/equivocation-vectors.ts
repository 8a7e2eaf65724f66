import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { CallAttestation } from "../../../core/protocol/calls/call-receipt.ts";
import { equivocationText } from "../../../core/protocol/calls/equivocation.ts";
import { packetText } from "../../arbitraries/evidence.ts";
import { attest, ESCROW, honestCalls, TERMS } from "../../doubles/session-sides.ts";

/** A file of two attestations, and what every verifier must say of it under trust.json. */
export type EquivocationVector = {
  readonly name: string;
  /** What is special or wrong about it. */
  readonly why: string;
  /** The document's JSON text. */
  readonly equivocation: string;
  /** The file's failed check; those of its packet pass in every vector. Without one the attestor is convicted. */
  readonly failed_checks: ReadonlyArray<"equivocation_form" | "equivocation">;
};

type Claim = Omit<CallAttestation, "signature">;
type Document = { [name: string]: Json };

const [FIFTH] = honestCalls(Array.from({ length: 5 }, () => ({ limit: 100n, price: 50n }))).slice(
  -1,
);
if (FIFTH === undefined) throw new Error("there are five calls");
const { deliveries, total } = FIFTH.after;
const HONEST: Claim = { deliveries, total, timestamp: 1_772_366_505n, count: 5, isFinal: false };
/** Any root that is not the session's. */
const OTHER_ROOT = { deliveries: ESCROW.taskHash };

const packetOf = (escrow: Escrow): Json =>
  JSON.parse(packetText(escrow, { slot: 7n, ledgerTime: 1_772_366_600n })) as Json;

const fileOf = (
  one: Partial<Claim>,
  two: Partial<Claim>,
  { escrow = ESCROW, terms = TERMS } = {},
): string =>
  equivocationText({
    packet: packetOf(escrow),
    attestations: [attest({ ...HONEST, ...one }), attest({ ...HONEST, ...two }, terms)],
  });

const convicts = (name: string, why: string, equivocation: string): EquivocationVector => ({
  name,
  why,
  equivocation,
  failed_checks: [],
});

const acquits = (name: string, why: string, equivocation: string): EquivocationVector => ({
  name,
  why,
  equivocation,
  failed_checks: ["equivocation"],
});

const malformed = (name: string, change: (document: Document) => void): EquivocationVector => {
  const document = JSON.parse(fileOf({}, OTHER_ROOT)) as Document;
  change(document);
  const equivocation = JSON.stringify(document);
  return {
    name,
    why: "the file has another form",
    equivocation,
    failed_checks: ["equivocation_form"],
  };
};

/** A file's attestation with one byte set. */
const withByte = (document: Document, name: string, at: number, set: (byte: number) => number) => {
  const text = document[name];
  if (typeof text !== "string") throw new TypeError(`${name} is no text`);
  const bytes = Buffer.from(text, "base64");
  bytes[at] = set(bytes[at] ?? 0);
  document[name] = bytes.toString("base64");
};

const spoiled = (): string => {
  const document = JSON.parse(fileOf({}, OTHER_ROOT)) as Document;
  withByte(document, "second_base64", 80, (byte) => byte ^ 1);
  return JSON.stringify(document);
};

/** Files that convict an attestor, and files that do not. */
export const equivocationVectors = (): ReadonlyArray<EquivocationVector> => [
  convicts("two-roots", "two roots of one count", fileOf({}, OTHER_ROOT)),
  convicts("two-totals", "two totals of one count", fileOf({}, { total: total + 1n })),
  convicts(
    "total-falls",
    "a later count with a smaller total",
    fileOf({ count: 6, total: total - 1n }, {}),
  ),
  convicts(
    "total-falls-turned",
    "the same, the other way round",
    fileOf({}, { count: 6, total: total - 1n }),
  ),
  convicts(
    "goes-on-after-final",
    "a further call after the final one",
    fileOf({ isFinal: true }, { count: 6, total: total + 1n }),
  ),
  convicts(
    "final-after-final",
    "a second final one of a later count",
    fileOf({ isFinal: true }, { count: 6, isFinal: true }),
  ),
  convicts(
    "two-roots-final",
    "a final one with another root",
    fileOf({}, { ...OTHER_ROOT, isFinal: true }),
  ),
  acquits("same-twice", "one attestation, twice", fileOf({}, {})),
  acquits("new-time", "the same with another time", fileOf({}, { timestamp: 1_772_366_600n })),
  acquits("final-of-same", "the final one of the same calls", fileOf({}, { isFinal: true })),
  acquits(
    "later-call",
    "the next call",
    fileOf({}, { ...OTHER_ROOT, count: 6, total: total + 1n }),
  ),
  acquits("later-free-call", "the next call cost nothing", fileOf({}, { ...OTHER_ROOT, count: 6 })),
  acquits(
    "final-comes-later",
    "a final one of a later count",
    fileOf({}, { count: 6, total: total + 1n, isFinal: true }),
  ),
  acquits(
    "other-terms",
    "one is of another session",
    fileOf({}, OTHER_ROOT, { terms: { ...TERMS, terms: ESCROW.taskHash } }),
  ),
  acquits(
    "other-ledger",
    "one is of another ledger",
    fileOf({}, OTHER_ROOT, { terms: { ...TERMS, domain: ESCROW.taskHash } }),
  ),
  acquits(
    "other-amount",
    "the packet is of other terms",
    fileOf({}, OTHER_ROOT, { escrow: { ...ESCROW, amount: 999_999n } }),
  ),
  acquits(
    "single-payment",
    "the packet is no session's",
    fileOf({}, OTHER_ROOT, { escrow: { ...ESCROW, sessionKey: null } }),
  ),
  acquits("bad-signature", "the attestor did not sign one of them", spoiled()),
  malformed("member-missing", (document) => delete document["second_base64"]),
  malformed("member-more", (document) => (document["note"] = null)),
  malformed(
    "other-version",
    (document) => (document["version"] = "settlement-evidence-equivocation-v2"),
  ),
  malformed("packet-null", (document) => (document["packet"] = null)),
  malformed("too-short", (document) => {
    document["first_base64"] = Buffer.alloc(119).toString("base64");
  }),
  malformed("final-of-two", (document) => withByte(document, "first_base64", 52, () => 2)),
  malformed("padding-not-zero", (document) => withByte(document, "first_base64", 55, () => 1)),
];
