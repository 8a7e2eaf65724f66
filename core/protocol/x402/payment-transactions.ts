import { bytesToHex } from "@noble/hashes/utils.js";
import { ZERO_ADDRESS } from "../../domain/address.ts";
import { decodeBase64 } from "../../domain/encoding/base64.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import { COMPUTE_BUDGET_PROGRAM, ED25519_PROGRAM } from "../addresses/well-known-addresses.ts";
import { type AttestationClaim, readAttestationMessage } from "../instructions/attestation.ts";
import { createEscrowInstruction } from "../instructions/custody-instructions.ts";
import { readEd25519Instruction } from "../instructions/ed25519-instruction.ts";
import { type ProgramCall, readInstruction } from "../instructions/program-call.ts";
import { decodeWireTransaction, openedInstructions } from "../transaction/wire-transaction.ts";
import { type PaymentOperation, type PaymentPayload } from "./payment-payload.ts";
import { faulty, type PaymentFault, type RequiredTerms } from "./payment-requirements.ts";

const another = (detail: string): PaymentFault =>
  faulty("another_transaction", detail, "Sign the transaction that the scheme asks for.").fault;

/** The instructions behind the compute budget, or why they cannot be read. */
const instructionsIn = (
  base64: string,
  what: string,
): { readonly value: ReadonlyArray<Instruction> } | { readonly fault: PaymentFault } => {
  const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  if ("malformed" in decoded) return { fault: another(`payload.${what} ${decoded.malformed}.`) };
  if (decoded.value.tables.length > 0)
    return { fault: another(`payload.${what} uses address tables.`) };
  const all = openedInstructions(decoded.value);
  return {
    value: all.filter(({ programAddress }) => programAddress !== COMPUTE_BUDGET_PROGRAM),
  };
};

const isSame = (one: Instruction, other: Instruction): boolean =>
  one.programAddress === other.programAddress &&
  bytesToHex(one.data) === bytesToHex(other.data) &&
  one.accounts.length === other.accounts.length &&
  one.accounts.every(({ address }, i) => address === other.accounts[i]?.address);

/**
 * Why a signed transaction is not the `create_escrow` of a payment, null when it is: that one instruction on exactly
 * these terms, and beside it nothing but the compute budget. Anyone may be its payer.
 */
export const createFault = (
  base64: string,
  terms: RequiredTerms,
  { agent, taskHash }: PaymentPayload,
  deployment: Deployment,
): PaymentFault | null => {
  const read = instructionsIn(base64, "create");
  if ("fault" in read) return read.fault;
  const [signed, ...others] = read.value;
  if (signed === undefined || others.length > 0)
    return another(
      `payload.create has ${read.value.length} instructions beside the compute budget, not 1.`,
    );
  const call = readInstruction(signed, deployment);
  const payer = call?.name === "create_escrow" ? call.at("payer") : undefined;
  if (call?.name !== "create_escrow" || payer === undefined)
    return another("payload.create is no create_escrow of the custody program.");
  const asked = createEscrowInstruction(deployment, {
    payer,
    agentOwner: agent,
    merchant: terms.merchant,
    mint: terms.mint,
    taskHash,
    attestor: terms.attestor,
    amount: terms.amount,
    ttlSeconds: 0,
    expiresAt: terms.deadline,
  });
  if (isSame(signed, asked)) return null;
  const { at, args } = call;
  const sides = (
    [
      ["agent", agent, at("agent_owner")],
      ["merchant", terms.merchant, at("merchant_wallet")],
      ["mint", terms.mint, at("mint")],
      ["amount", terms.amount, args.amount],
      ["attestor", terms.attestor, args.attestor],
      ["task hash", taskHash, args.taskHash],
      ["end", terms.deadline, args.expiresAt],
      ["ttl beside the end", 0, args.ttlSeconds],
      ["session key", ZERO_ADDRESS, args.sessionKey],
    ] as const
  )
    .filter(([, want, there]) => want !== there)
    .map(([what, want, there]) => `${what} asked ${want}, signed ${there}`);
  return another(
    `payload.create is on other terms: ${sides.length === 0 ? "its accounts are others" : sides.join("; ")}.`,
  );
};

const SETTLING: Readonly<Record<PaymentOperation, ProgramCall["name"] | null>> = {
  authorize: null,
  capture: "release_escrow",
  void: "cancel_escrow",
};

/** What may come behind the settlement of an escrow: it returns what is left to those who own it. */
const FOLLOWING: ReadonlySet<ProgramCall["name"]> = new Set(["claim_refund", "return_rent"]);

/**
 * What is attested in a transaction that releases a single payment. Undefined unless exactly one Ed25519 instruction
 * holds exactly one attestation: with
 * two of them the program would choose.
 */
const attestedIn = (instructions: ReadonlyArray<Instruction>): AttestationClaim | undefined => {
  const [only, ...others] = instructions.filter(
    ({ programAddress }) => programAddress === ED25519_PROGRAM,
  );
  if (only === undefined || others.length > 0) return undefined;
  const form = readEd25519Instruction(only.data);
  return form.kind === "single" ? readAttestationMessage(form.attestation.message) : undefined;
};

/** The proof hash with which a transaction releases an escrow; undefined when it releases none. */
export const releasingProof = (
  base64: string,
  deployment: Pick<Deployment, "custodyProgram">,
): Hash32 | undefined => {
  const read = instructionsIn(base64, "transaction");
  if ("fault" in read) return undefined;
  const releases = read.value.some(
    (each) => readInstruction(each, deployment)?.name === "release_escrow",
  );
  return releases ? attestedIn(read.value)?.proofHash : undefined;
};

/**
 * Why a seller's transaction does not do the payment's operation, null when it does. `amount` is what the seller asks
 * for, in base units; a capture gives the merchant exactly that.
 */
export const settlingFault = (
  base64: string,
  { escrow, operation }: Pick<PaymentPayload, "escrow" | "operation">,
  { amount }: { readonly amount: bigint },
  deployment: Pick<Deployment, "custodyProgram">,
): PaymentFault | null => {
  const read = instructionsIn(base64, "transaction");
  if ("fault" in read) return read.fault;
  const calls = read.value
    .filter(({ programAddress }) => programAddress === deployment.custodyProgram)
    .map((each) => readInstruction(each, deployment));
  const isOn = (call: ProgramCall | undefined): boolean =>
    call?.program === "custody" &&
    call.name !== "initialize_custody" &&
    call.at("escrow") === escrow;
  const [call, ...others] = calls;
  const settles =
    call?.name === SETTLING[operation] &&
    calls.every(isOn) &&
    others.every((other) => other !== undefined && FOLLOWING.has(other.name));
  if (!settles)
    return another(
      `payload.transaction is no ${operation} of the escrow ${escrow}, and of it alone.`,
    );
  if (operation === "void") return null;
  const released = attestedIn(read.value)?.total;
  if (released === undefined)
    return another(
      "payload.transaction does not have exactly one attestation of a single payment.",
    );
  if (released === amount) return null;
  return faulty(
    "another_amount",
    `payload.transaction gives ${released} base units, the seller asks for ${amount}.`,
    "Attest the amount that is asked for.",
  ).fault;
};
