import { type Address, parseAddress } from "../../domain/address.ts";
import type { Json } from "../../domain/encoding/canonical-json.ts";
import { MAX_NONCE_BYTES, taskHash, taskTextFault } from "../../domain/escrow/task-hash.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { escrowAddress } from "../addresses/addresses.ts";
import { faulty, type Read } from "./payment-fault.ts";
import type { RequiredTerms } from "./payment-requirements.ts";

/** The phases of a settlement: before the seller's handler, after it, and in its place when it failed. */
export const SETTLE_PHASES = ["before-handler", "after-handler", "cancel"] as const;

/** One of the phases. */
export type SettlePhase = (typeof SETTLE_PHASES)[number];

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

const invalid = (detail: string) =>
  faulty("invalid_payload", detail, "Make the payload by docs/x402-escrow-svm.md.");

/** The payload as far as it goes without requirements, or why it is none. */
const phaseOf = (payload: { readonly [name: string]: Json }): SettlePhase | undefined =>
  payload["phase"] === undefined
    ? "before-handler"
    : SETTLE_PHASES.find((phase) => phase === payload["phase"]);

const transactionName = { "after-handler": "release", cancel: "cancel" } as const;

/** What a payload comes to under its requirements, or what is wrong with it. The escrow must be the one that agent, task and nonce derive. */
export const readPayload = (
  payload: { readonly [name: string]: Json },
  { task }: RequiredTerms,
  deployment: Deployment,
): Read<PaymentPayload> => {
  const stranger = Object.keys(payload).find(
    (name) => !BUYER_MEMBERS.has(name) && !SELLER_MEMBERS.has(name),
  );
  if (stranger !== undefined) return invalid(`The payload has an unknown member.`);
  const { agent: agentText, nonce, escrow: escrowText, create = null } = payload;
  const agent = typeof agentText === "string" ? parseAddress(agentText) : undefined;
  if (agent === undefined) return invalid("payload.agent is no wallet's address.");
  if (typeof nonce !== "string") return invalid("payload.nonce is no text.");
  const fault = taskTextFault(nonce, MAX_NONCE_BYTES);
  if (fault !== undefined) return invalid(`payload.nonce ${fault}.`);
  if (create !== null && typeof create !== "string") return invalid("payload.create is no text.");
  const phase = phaseOf(payload);
  if (phase === undefined) return invalid("payload.phase is none of the scheme's.");
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
    return invalid(`payload.${name} is no text.`);
  return { value: { agent, nonce, taskHash: hash, escrow, create, phase, settlement } };
};
