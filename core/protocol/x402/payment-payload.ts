import { bytesToHex } from "@noble/hashes/utils.js";
import { type Address, parseAddress } from "../../domain/address.ts";
import { parseAmount } from "../../domain/amount.ts";
import { canonicalJsonBytes, type Json } from "../../domain/encoding/canonical-json.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../domain/escrow/escrow.ts";
import {
  MAX_NONCE_BYTES,
  MAX_TASK_INTENT_BYTES,
  taskHash,
  taskTextFault,
} from "../../domain/escrow/task-hash.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { sha256 } from "../../domain/sha256.ts";
import { escrowAddress } from "../addresses/addresses.ts";

/** What can be wrong with an x402 payment, as `errorReason` and `invalidReason` name it. The list only grows. */
const PAYMENT_FAULT_CODES = [
  "unsupported_version",
  "unsupported_scheme",
  "unsupported_network",
  "invalid_requirements",
  "invalid_payload",
  "requirements_mismatch",
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
const paymentTask = (request: string, digest: string): string => `x402 ${request} sha256:${digest}`;

const textOf = ({ extra }: PaymentRequirements, name: string): string => {
  const value = extra?.[name];
  return typeof value === "string" ? value : "";
};

const invalidRequirements = (detail: string) =>
  faulty(
    "invalid_requirements",
    detail,
    "Have the seller offer what docs/x402-escrow-svm.md asks for.",
  );

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
  if (merchant === undefined) return invalidRequirements("payTo is no wallet's address.");
  if (mint === undefined) return invalidRequirements("asset is no mint's address.");
  if (attestor === undefined) return invalidRequirements("extra.attestor is no attestor's key.");
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
  const fault = taskTextFault(task, MAX_TASK_INTENT_BYTES);
  if (fault !== undefined) return invalidRequirements(`The task of extra.request ${fault}.`);
  return { value: { merchant, mint, amount: units, ttlSeconds: ttl, attestor, request, task } };
};

/** The phases of a settlement: before the seller's handler, after it, and in its place when it failed. */
const SETTLE_PHASES = ["before-handler", "after-handler", "cancel"] as const;

/** One of the phases. */
type SettlePhase = (typeof SETTLE_PHASES)[number];

/** The members that the buyer sends. The seller adds `phase` and its transaction; neither may be there before. */
export const BUYER_MEMBERS: ReadonlySet<string> = new Set(["agent", "nonce", "escrow", "create"]);
const SELLER_MEMBERS: ReadonlySet<string> = new Set(["phase", "release", "cancel"]);

/** A payment's `payload`, decoded: who pays into which escrow, and the signed transactions in base64. */
export type PaymentPayload = {
  readonly agent: Address;
  readonly nonce: string;
  readonly taskHash: Hash32;
  readonly escrow: Address;
  /** Null for an escrow that is there already. */
  readonly create: string | null;
  readonly phase: SettlePhase;
  /** What settles the escrow; null before the handler. */
  readonly settlement: string | null;
};

const invalidPayload = (detail: string) =>
  faulty("invalid_payload", detail, "Make the payload by docs/x402-escrow-svm.md.");

/** The payload as far as it goes without requirements, or why it is none. */
const phaseOf = (payload: { readonly [name: string]: Json }): SettlePhase | undefined =>
  payload["phase"] === undefined
    ? "before-handler"
    : SETTLE_PHASES.find((phase) => phase === payload["phase"]);

const transactionName = { "after-handler": "release", cancel: "cancel" } as const;

/**
 * What a payload comes to under its requirements, or what is wrong with it. The escrow must be the one that agent, task
 * and nonce derive.
 */
export const readPayload = (
  payload: { readonly [name: string]: Json },
  { task }: RequiredTerms,
  deployment: Deployment,
): Read<PaymentPayload> => {
  const stranger = Object.keys(payload).find(
    (name) => !BUYER_MEMBERS.has(name) && !SELLER_MEMBERS.has(name),
  );
  if (stranger !== undefined) return invalidPayload(`The payload has an unknown member.`);
  const { agent: agentText, nonce, escrow: escrowText, create = null } = payload;
  const agent = typeof agentText === "string" ? parseAddress(agentText) : undefined;
  if (agent === undefined) return invalidPayload("payload.agent is no wallet's address.");
  if (typeof nonce !== "string") return invalidPayload("payload.nonce is no text.");
  const fault = taskTextFault(nonce, MAX_NONCE_BYTES);
  if (fault !== undefined) return invalidPayload(`payload.nonce ${fault}.`);
  if (create !== null && typeof create !== "string")
    return invalidPayload("payload.create is no text.");
  const phase = phaseOf(payload);
  if (phase === undefined) return invalidPayload("payload.phase is none of the scheme's.");
  const hash = taskHash(task, nonce);
  const escrow = escrowAddress(deployment, agent, hash).address;
  if (escrowText !== escrow)
    return faulty(
      "another_escrow",
      `The payment is for another resource, seller, price or nonce: agent, requirements and nonce make the escrow ${escrow}, not the one that it names.`,
      "Pay for this request: each request, seller and price has an escrow of its own.",
    );
  const name = phase === "before-handler" ? null : transactionName[phase];
  const settlement = name === null ? null : payload[name];
  if (settlement !== null && typeof settlement !== "string")
    return invalidPayload(`payload.${name} is no text.`);
  return { value: { agent, nonce, taskHash: hash, escrow, create, phase, settlement } };
};
