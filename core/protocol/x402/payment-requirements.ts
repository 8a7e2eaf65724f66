import { bytesToHex } from "@noble/hashes/utils.js";
import { type Address, parseAddress } from "../../domain/address.ts";
import { parseAmount } from "../../domain/amount.ts";
import { canonicalJsonBytes, type Json } from "../../domain/encoding/canonical-json.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../domain/escrow/escrow.ts";
import { MAX_TASK_INTENT_BYTES, taskTextFault } from "../../domain/escrow/task-hash.ts";
import { sha256 } from "../../domain/sha256.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";

/** What can be wrong with an x402 payment, as `errorReason` and `invalidReason` name it. The list only grows. */
const PAYMENT_FAULT_CODES = [
  "unsupported_version",
  "unsupported_scheme",
  "unsupported_network",
  "unsupported_operation",
  "invalid_requirements",
  "invalid_payload",
  "requirements_mismatch",
  "session_call",
  "another_custody",
  "another_escrow",
  "another_transaction",
  "another_payment",
  "another_amount",
  "payment_missing",
  "payment_spent",
  "payment_expired",
  "settlement_pending",
] as const;

/** One of the codes. */
export type PaymentFaultCode = (typeof PAYMENT_FAULT_CODES)[number];

/** Why a payment is refused, and what to do about it. Both are one sentence or two. */
export type PaymentFault = {
  readonly code: PaymentFaultCode;
  readonly detail: string;
  readonly cure: string;
};

/** A value, or why there is none. */
export type Read<A> = { readonly value: A } | { readonly fault: PaymentFault };

/** A fault as the outcome of reading something. */
export const faulty = (
  code: PaymentFaultCode,
  detail: string,
  cure: string,
): { readonly fault: PaymentFault } => ({ fault: { code, detail, cure } });

/** The scheme's name in x402. docs/x402.md is its binding for Solana. */
export const X402_SCHEME = "auth-capture";
/** The scheme of calls that are paid out of a session. Their seller judges and records them; nothing is settled. */
export const SESSION_SCHEME = "delivery-session";
/** The binding's `assetTransferMethod`. */
export const X402_TRANSFER_METHOD = "delivery-escrow";
/** The binding's one `paymentFlow`: the money is held before the delivery, and captured or given back after it. */
export const X402_FLOW = "escrow";
/**
 * Members of `extra` that every offer has anew: absolute times. The digest leaves them out, so that an offer that is
 * made again is paid by the same escrow.
 */
export const X402_DEADLINES = ["captureDeadline", "refundDeadline"] as const;
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
  /** Seconds from the offer to its deadlines. */
  readonly maxTimeoutSeconds: number;
  readonly extra?: { readonly [name: string]: Json } | undefined;
};

/** What requirements come to, decoded. */
export type RequiredTerms = {
  readonly merchant: Address;
  readonly mint: Address;
  /** Base units, at least 1. */
  readonly amount: bigint;
  /** The time that the seller gives an escrow, of which a fourth must be left when a delivery begins. */
  readonly ttlSeconds: number;
  /** When the escrow ends at the latest: the offer's deadlines. */
  readonly deadline: UnixSeconds;
  /** The key that must attest: the offer's `captureAuthorizer`. */
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

/**
 * SHA-256 of the RFC 8785 bytes of the requirements without their deadlines, 64 hex digits; undefined for a text
 * without UTF-8.
 */
export const requirementsDigest = (requirements: PaymentRequirements): string | undefined => {
  const extra = Object.entries(requirements.extra ?? {}).filter(
    ([name]) => !X402_DEADLINES.some((deadline) => deadline === name),
  );
  const lasting = { ...requirements, extra: Object.fromEntries(extra) };
  try {
    return bytesToHex(sha256(canonicalJsonBytes(lasting)));
  } catch {
    // A lone surrogate, which `canonicalJsonBytes` throws for.
    return undefined;
  }
};

/** The escrow's task for a request and the digest of its requirements. */
const paymentTask = (request: string, digest: string): string => `x402 ${request} sha256:${digest}`;

const textOf = ({ extra }: PaymentRequirements, name: string): string => {
  const value = extra?.[name];
  return typeof value === "string" ? value : "";
};

const invalidRequirements = (detail: string) =>
  faulty("invalid_requirements", detail, "Have the seller offer what docs/x402.md asks for.");

/** What is wrong with the members that say how the money is held; undefined when nothing is. */
const holdFault = ({ extra = {} }: PaymentRequirements): string | undefined => {
  const { assetTransferMethod, paymentFlow = X402_FLOW, minFeeBps, maxFeeBps } = extra;
  const { captureDeadline, refundDeadline } = extra;
  if (assetTransferMethod !== X402_TRANSFER_METHOD)
    return `extra.assetTransferMethod is not ${X402_TRANSFER_METHOD}.`;
  if (paymentFlow !== X402_FLOW) return `extra.paymentFlow is not ${X402_FLOW}.`;
  if (minFeeBps !== 0 || maxFeeBps !== 0)
    return "extra.minFeeBps and extra.maxFeeBps are not 0: nobody takes a fee.";
  if (!Number.isSafeInteger(captureDeadline) || Number(captureDeadline) < 1)
    return "extra.captureDeadline is no Unix time in seconds.";
  return refundDeadline === captureDeadline
    ? undefined
    : "extra.refundDeadline is not extra.captureDeadline, after which nothing is refunded.";
};

/**
 * The form of a scheme's name. A message quotes nothing else that a payment names: it may be a key in the wrong place.
 */
const SCHEME = /^[a-z][a-z0-9-]{0,31}$/;

/** A method in capitals, a space, and an http or https URL. */
const REQUEST = /^[A-Z]{1,16} https?:\/\/[!-~]+$/;

/** What requirements come to on this ledger with these programs, or what is wrong with them. */
export const readRequirements = (
  requirements: PaymentRequirements,
  place: PaymentPlace,
): Read<RequiredTerms> => {
  const { scheme, network, amount, payTo, asset, maxTimeoutSeconds: ttl } = requirements;
  if (scheme === SESSION_SCHEME)
    return faulty(
      "session_call",
      "A call of a session is judged and recorded by its seller, and nothing is settled for it here.",
      "Have the seller register sessionScheme, whose hooks answer in this place.",
    );
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
  const fault = holdFault(requirements);
  if (fault !== undefined) return invalidRequirements(fault);
  const [merchant, mint, attestor] = [
    parseAddress(payTo),
    parseAddress(asset),
    parseAddress(textOf(requirements, "captureAuthorizer")),
  ];
  if (merchant === undefined) return invalidRequirements("payTo is no wallet's address.");
  if (mint === undefined) return invalidRequirements("asset is no mint's address.");
  if (attestor === undefined)
    return invalidRequirements("extra.captureAuthorizer is no attestor's key.");
  const units = parseAmount(amount);
  if (units === undefined || units === 0n)
    return invalidRequirements("amount is no number of base units from 1 to 2^64-1.");
  if (!Number.isInteger(ttl) || ttl < MIN_TTL_SECONDS || ttl > MAX_TTL_SECONDS)
    return invalidRequirements(
      `maxTimeoutSeconds must be ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS}.`,
    );
  const request = textOf(requirements, "request");
  if (!REQUEST.test(request)) return invalidRequirements("extra.request is no method and URL.");
  const digest = requirementsDigest(requirements);
  if (digest === undefined) return invalidRequirements("A text has no UTF-8.");
  const task = paymentTask(request, digest);
  const taskFault = taskTextFault(task, MAX_TASK_INTENT_BYTES);
  if (taskFault !== undefined)
    return invalidRequirements(`The task of extra.request ${taskFault}.`);
  const deadline = BigInt(Number(requirements.extra?.["captureDeadline"]));
  const money = { merchant, mint, amount: units, attestor };
  return { value: { ...money, ttlSeconds: ttl, deadline, request, task } };
};
