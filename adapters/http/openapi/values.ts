import { type SchemaOptions, type StringOptions, type TSchema, Type } from "@sinclair/typebox";
import { ESCROW_STATES } from "../../../core/domain/escrow/escrow.ts";
import { EVENT_KINDS } from "../../../core/domain/index/settlement-event.ts";
import { MERCHANT_STATUSES } from "../../../core/domain/merchant/merchant.ts";

/** The sample escrow's address, written out because every start needs it. */
const EXAMPLE_ADDRESS = "9kKqMtFDcsVU5f4btXxriXm3NB5eqvvxLdQeyc36rLpz";

/** The sample merchant's wallet, written out for the same reason. */
export const EXAMPLE_WALLET = "A4aH2Fqc7a34uucjrd8WYPBWtoNPDYjxVJB8aTdKVWTh";

/** The sample mint, likewise. */
export const EXAMPLE_MINT = "DmQ3S9jrtTQyRjknfh3tUmSbyputTjDQe4MMpTkN5cnX";

/** The key of constraints that the document states and no schema check enforces. `finishDocument` replaces it. */
export const JUDGED = "x-judged";

const ADDRESS = { pattern: "^[1-9A-HJ-NP-Za-km-z]{32,44}$", minLength: 32, maxLength: 44 };

/** An object of exactly these members, published under its name in the OpenAPI document's components. */
export const record = <P extends Record<string, TSchema>>(
  title: string,
  description: string,
  properties: P,
) => Type.Object(properties, { title, description, additionalProperties: false });

/** The value, or null. */
export const nullable = <S extends TSchema>(schema: S, options: SchemaOptions = {}) =>
  Type.Union([schema, Type.Null()], options);

/**
 * A text that is one of a list. In the OpenAPI document it has a name: `title`, or the record's name and the member's
 * name when it occurs in one record only.
 */
export const oneOf = <const T extends ReadonlyArray<string>>(
  values: T,
  description: string,
  title?: string,
) =>
  Type.Union(
    values.map((value) => Type.Literal(value as T[number])),
    { description, ...(title === undefined ? {} : { title }) },
  );

/**
 * Constraints that the OpenAPI document states and the use case checks, so that a fault has
 * a problem of its own.
 */
export const judged = (constraints: SchemaOptions) => ({ [JUDGED]: constraints });

/** A base58 address of 32 bytes, as an answer states it. */
export const Address = (description: string) =>
  Type.String({
    description,
    ...ADDRESS,
    examples: [EXAMPLE_ADDRESS],
  });

/** An address in a body or a query, judged by the use case, so that a bad one has its own problem. */
export const RequestAddress = (description: string, example?: string) =>
  Type.String({
    description: `${description} Base58 of 32 bytes.`,
    ...(example === undefined ? {} : { examples: [example] }),
    ...judged(ADDRESS),
  });

/** An optional text in a body, for which null counts as absent. Required members and amounts do not accept null. */
export const OrNull = (description: string, constraints: StringOptions = {}) =>
  Type.Optional(
    Type.Union([Type.String(judged(constraints)), Type.Null()], {
      description: `${description} Null counts as absent.`,
    }),
  );

/** An optional address in a body, judged by the use case, for which null counts as absent. */
export const AddressOrNull = (description: string) => OrNull(description, ADDRESS);

/**
 * An address as a path parameter, by default an escrow's: judged by the use case, so that a bad one has its own
 * problem.
 */
export const PathAddress = (description: string, example = EXAMPLE_ADDRESS) =>
  Type.String({
    description: `${description} Base58 of 32 bytes.`,
    examples: [example],
    ...judged(ADDRESS),
  });

/** 32 bytes in lower-case hex. */
export const Hash = (description: string) =>
  Type.String({ description, pattern: "^[0-9a-f]{64}$" });

/** A ledger transaction's first signature: 64 bytes in base58. */
export const Signature = (description: string) =>
  Type.String({ description, pattern: "^[1-9A-HJ-NP-Za-km-z]{64,88}$" });

/** Base units as a decimal integer; it can exceed the numbers that JSON carries exactly. */
export const Stroops = (description: string) =>
  Type.String({ description, pattern: "^(0|[1-9][0-9]*)$", examples: ["1500000"] });

/** Base units as a decimal with six fractional digits. */
export const Usdc = (description: string) =>
  Type.String({ description, pattern: "^(0|[1-9][0-9]*)\\.[0-9]{6}$", examples: ["1.500000"] });

/** Base units of a mint that this service lists as USDC, with six fractional digits; null for any other mint. */
export const UsdcOrNull = (description: string) =>
  nullable(Usdc(description), { description: "Null unless this service lists the mint as USDC." });

/** Whether the service lists the mint. */
export const MintSupported = Type.Boolean({
  description: "Whether this service lists the mint. Anybody can make a mint.",
});

/** The service's name of the mint's units. */
export const MintSymbol = nullable(Type.String({ maxLength: 16, examples: ["USDC"] }), {
  description: "The symbol of the mint in this service's list; null for a mint that is not listed.",
});

/** RFC 3339 in UTC, to the second. */
export const Time = (description: string) =>
  Type.String({
    description,
    format: "date-time",
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{3})?Z$",
    examples: ["2026-03-01T12:00:00Z"],
  });

/** A whole number from 0. */
export const Count = (description: string) => Type.Integer({ description, minimum: 0 });

/** A slot of the ledger. */
export const Slot = (description = "The ledger's slot.") => Count(description);

/** Bytes in base64 with padding. */
export const Base64 = (description: string) =>
  Type.String({ description, contentEncoding: "base64", pattern: "^[A-Za-z0-9+/]*={0,2}$" });

/** An escrow's state on the ledger. */
export const EscrowState = oneOf(
  ESCROW_STATES,
  "Pending can change; Fulfilled, PartiallyFulfilled and Refunded are final.",
  "EscrowState",
);

/** How an escrow was settled. */
export const SettledBy = nullable(oneOf(["release", "refund", "cancel"], "How it was settled."), {
  description: "Null while Pending.",
});

/** A merchant's standing. */
export const MerchantStatus = oneOf(
  MERCHANT_STATUSES,
  "Only an Active merchant can be named by a new escrow.",
  "MerchantStatus",
);

/** The kinds of settlement event. */
export const EventKind = oneOf(EVENT_KINDS, "What happened.", "EventKind");

/** The commitment of a live read. */
export const Commitment = oneOf(
  ["confirmed", "finalized"],
  "The commitment of that slot.",
  "Commitment",
);

/** A mint of a service's list. */
export const SupportedMint = record("SupportedMint", "A mint whose amounts are shown as money.", {
  address: Address("The mint."),
  decimals: Type.Integer({ minimum: 0, maximum: 255 }),
  symbol: Type.String({ pattern: "^[!-~]{1,16}$", examples: ["USDC"] }),
});
