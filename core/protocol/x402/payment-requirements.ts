import { bytesToHex } from "@noble/hashes/utils.js";
import { type Address, parseAddress } from "../../domain/address.ts";
import { parseAmount } from "../../domain/amount.ts";
import { canonicalJsonBytes, type Json } from "../../domain/encoding/canonical-json.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../domain/escrow/escrow.ts";
import { MAX_TASK_INTENT_BYTES, taskTextFault } from "../../domain/escrow/task-hash.ts";
import { sha256 } from "../../domain/sha256.ts";
import { faulty, type Read } from "./payment-fault.ts";

/** The scheme's name in x402. docs/x402-escrow-svm.md is its specification. */
export const X402_SCHEME = "escrow";
/** The version of x402 that the scheme is of. */
export const X402_VERSION = 2;

/** What a seller asks for one request: x402's `PaymentRequirements`. */
export type PaymentRequirements = {
  readonly scheme: string;
  readonly network: string;
  /** The mint. */
  readonly asset: string;
  /** Base units, decimal. */
  readonly amount: string;
  /** The merchant's wallet. */
  readonly payTo: string;
  /** The escrow's time to live. */
  readonly maxTimeoutSeconds: number;
  readonly extra?: { readonly [name: string]: Json } | undefined;
};

/** What requirements come to, decoded. */
export type RequiredTerms = {
  readonly merchant: Address;
  readonly mint: Address;
  /** Base units, at least 1. */
  readonly amount: bigint;
  readonly ttlSeconds: number;
  /** The key that must attest. */
  readonly attestor: Address;
  /** Method and URL of the request that is paid for, with a space between. */
  readonly request: string;
  /** The escrow's task: the request and the digest of the requirements. */
  readonly task: string;
};

/** Where the requirements must be from. */
export type PaymentPlace = {
  /** The ledger's name in x402. */
  readonly network: string;
  readonly custodyProgram: Address;
};

/** A ledger's name in x402: CAIP-2, the first 32 characters of its genesis hash. */
export const x402Network = (genesisHash: string): `solana:${string}` =>
  `solana:${genesisHash.slice(0, 32)}`;

/** SHA-256 of the requirements' RFC 8785 bytes, 64 hex digits; undefined for a text without UTF-8. */
export const requirementsDigest = (requirements: PaymentRequirements): string | undefined => {
  try {
    return bytesToHex(sha256(canonicalJsonBytes(requirements as unknown as Json)));
  } catch {
    // A lone surrogate, which `canonicalJsonBytes` throws for.
    return undefined;
  }
};

/** The escrow's task for a request and the digest of its requirements. */
export const paymentTask = (request: string, digest: string): string =>
  `x402 ${request} sha256:${digest}`;

const textOf = ({ extra }: PaymentRequirements, name: string): string => {
  const value = extra?.[name];
  return typeof value === "string" ? value : "";
};

const invalid = (detail: string) =>
  faulty(
    "invalid_requirements",
    detail,
    "Have the seller offer what docs/x402-escrow-svm.md asks for.",
  );

/** The form of a scheme's name. A message quotes nothing else that a payment names: it may be a key in the wrong place. */
const SCHEME = /^[a-z][a-z0-9-]{0,31}$/;

/** A method in capitals, a space, and an http or https URL. */
const REQUEST = /^[A-Z]{1,16} https?:\/\/[!-~]+$/;

/** What requirements come to on this ledger with these programs, or what is wrong with them. */
export const readRequirements = (
  requirements: PaymentRequirements,
  place: PaymentPlace,
): Read<RequiredTerms> => {
  const { scheme, network, amount, payTo, asset, maxTimeoutSeconds: ttl } = requirements;
  if (scheme !== X402_SCHEME)
    return faulty(
      "unsupported_scheme",
      `The scheme${SCHEME.test(scheme) ? ` ${scheme}` : ""} is not ${X402_SCHEME}.`,
      `Pay by the scheme ${X402_SCHEME}, or ask a facilitator of that scheme.`,
    );
  if (network !== place.network)
    return faulty(
      "unsupported_network",
      `The payment is on another network, the ledger here is ${place.network}.`,
      "Use the trust document and the service of the ledger that is paid on.",
    );
  const custody = textOf(requirements, "custody");
  if (custody !== place.custodyProgram)
    return faulty(
      "another_custody",
      `The seller names the custody program ${parseAddress(custody) ?? "(none)"}; the trusted one is ${place.custodyProgram}.`,
      "Do not pay. Have the seller use the facilitator whose programs you trust.",
    );
  const [merchant, mint, attestor] = [
    parseAddress(payTo),
    parseAddress(asset),
    parseAddress(textOf(requirements, "attestor")),
  ];
  if (merchant === undefined) return invalid("payTo is no wallet's address.");
  if (mint === undefined) return invalid("asset is no mint's address.");
  if (attestor === undefined) return invalid("extra.attestor is no attestor's key.");
  const units = parseAmount(amount);
  if (units === undefined || units === 0n)
    return invalid("amount is no number of base units from 1 to 2^64-1.");
  if (!Number.isInteger(ttl) || ttl < MIN_TTL_SECONDS || ttl > MAX_TTL_SECONDS)
    return invalid(`maxTimeoutSeconds must be ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}.`);
  const request = textOf(requirements, "request");
  if (!REQUEST.test(request)) return invalid("extra.request is no method and URL.");
  const digest = requirementsDigest(requirements);
  if (digest === undefined) return invalid("A text has no UTF-8.");
  const task = paymentTask(request, digest);
  const fault = taskTextFault(task, MAX_TASK_INTENT_BYTES);
  if (fault !== undefined) return invalid(`The task of extra.request ${fault}.`);
  return { value: { merchant, mint, amount: units, ttlSeconds: ttl, attestor, request, task } };
};
