import { type Address, parseAddress } from "../../domain/address.ts";
import type { Json } from "../../domain/encoding/canonical-json.ts";
import { MAX_NONCE_BYTES, taskHash, taskTextFault } from "../../domain/escrow/task-hash.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { escrowAddress } from "../addresses/addresses.ts";
import { faulty, type Read, type RequiredTerms } from "./payment-requirements.ts";

/**
 * What a settlement does: hold the money before the seller's handler, pay it out after it, or give it back when the
 * handler failed. The buyer's payload names none and is for the first; the seller names the others as `type`.
 */
export type PaymentOperation = "authorize" | "capture" | "void";

/** The members that the buyer sends. The seller adds `type` and its transaction; neither may be there before. */
export const BUYER_MEMBERS: ReadonlySet<string> = new Set(["agent", "nonce", "escrow", "create"]);
const SELLER_MEMBERS: ReadonlySet<string> = new Set(["type", "transaction"]);

/** A payment's `payload`, decoded: who pays into which escrow, and the signed transactions in base64. */
export type PaymentPayload = {
  readonly agent: Address;
  readonly nonce: string;
  readonly taskHash: Hash32;
  readonly escrow: Address;
  /** Null for an escrow that is there already. */
  readonly create: string | null;
  readonly operation: PaymentOperation;
  /** What settles the escrow; null for `authorize`. */
  readonly settlement: string | null;
};

const invalidPayload = (detail: string) =>
  faulty("invalid_payload", detail, "Make the payload by docs/x402.md.");

/** The operation that a payload's `type` names, or why it names none. */
const operationOf = (type: Json | undefined): Read<PaymentOperation> => {
  if (type === undefined) return { value: "authorize" };
  if (type === "capture" || type === "void") return { value: type };
  if (type === "refund")
    return faulty(
      "unsupported_operation",
      "What was captured is the merchant's: nothing takes it back.",
      "Have the merchant pay it back in a payment of its own.",
    );
  return invalidPayload("payload.type is neither capture nor void.");
};

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
  const named = operationOf(payload["type"]);
  if ("fault" in named) return named;
  const hash = taskHash(task, nonce);
  const escrow = escrowAddress(deployment, agent, hash).address;
  if (escrowText !== escrow)
    return faulty(
      "another_escrow",
      `The payment is for another resource, seller, price or nonce: agent, requirements and nonce make the escrow ${escrow}, not the one that it names.`,
      "Pay for this request: each request, seller and price has an escrow of its own.",
    );
  const { value: operation } = named;
  const settlement = operation === "authorize" ? null : payload["transaction"];
  if (settlement !== null && typeof settlement !== "string")
    return invalidPayload("payload.transaction is no text.");
  return { value: { agent, nonce, taskHash: hash, escrow, create, operation, settlement } };
};
