import { bytesToHex } from "@noble/hashes/utils.js";
import type { Address } from "../../domain/address.ts";
import { decodeBase64 } from "../../domain/encoding/base64.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../addresses/well-known-addresses.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import { createEscrowInstruction } from "../instructions/custody-instructions.ts";
import { decodeArgs, isInstruction } from "../instructions/instruction-layout.ts";
import { openedInstructions } from "../transaction/opened-instructions.ts";
import { decodeWireTransaction } from "../transaction/wire-transaction.ts";
import { faulty, type PaymentFault } from "./payment-fault.ts";
import type { PaymentPayload } from "./payment-payload.ts";
import type { RequiredTerms } from "./payment-requirements.ts";

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
 * Why a signed transaction is not the `create_escrow` of a payment, null when it is: that one instruction on exactly these terms, and beside it nothing
 * but the compute budget. Anyone may be its payer.
 */
export const createFault = (
  base64: string,
  terms: RequiredTerms,
  { agent, taskHash }: PaymentPayload,
  deployment: Deployment,
): PaymentFault | null => {
  const read = instructionsIn(base64, "create");
  if ("fault" in read) return read.fault;
  const [found, ...others] = read.value;
  if (found === undefined || others.length > 0)
    return another(
      `payload.create has ${read.value.length} instructions beside the compute budget, not 1.`,
    );
  const layout = CUSTODY_INSTRUCTIONS.create_escrow;
  const signed = (name: keyof typeof layout.accounts): Address | undefined =>
    found.accounts[layout.accounts[name].place]?.address;
  const payer = signed("payer");
  if (
    payer === undefined ||
    found.programAddress !== deployment.custodyProgram ||
    !isInstruction(layout, found.data)
  )
    return another("payload.create is no create_escrow of the custody program.");
  const asked = createEscrowInstruction(deployment, {
    payer,
    agentOwner: agent,
    merchant: terms.merchant,
    mint: terms.mint,
    taskHash,
    attestor: terms.attestor,
    amount: terms.amount,
    ttlSeconds: terms.ttlSeconds,
  });
  if (isSame(found, asked)) return null;
  const args = decodeArgs(layout, found.data);
  const sides = (
    [
      ["agent", agent, signed("agent_owner")],
      ["merchant", terms.merchant, signed("merchant_wallet")],
      ["mint", terms.mint, signed("mint")],
      ["amount", terms.amount, args.amount],
      ["ttl", terms.ttlSeconds, args.ttlSeconds],
      ["attestor", terms.attestor, args.attestor],
      ["task hash", taskHash, args.taskHash],
    ] as const
  )
    .filter(([, want, there]) => want !== there)
    .map(([what, want, there]) => `${what} asked ${want}, signed ${there}`);
  return another(
    `payload.create is on other terms: ${sides.length === 0 ? "its accounts are others" : sides.join("; ")}.`,
  );
};

const SETTLING = {
  "before-handler": [],
  "after-handler": [CUSTODY_INSTRUCTIONS.release_escrow, CUSTODY_INSTRUCTIONS.release_partial],
  cancel: [CUSTODY_INSTRUCTIONS.cancel_escrow],
} as const;

/** The proof hash with which a transaction releases an escrow; undefined when it releases none. */
export const releasingProof = (
  base64: string,
  { custodyProgram }: Pick<Deployment, "custodyProgram">,
): Hash32 | undefined => {
  const read = instructionsIn(base64, "release");
  if ("fault" in read) return undefined;
  const { release_escrow: whole, release_partial: part } = CUSTODY_INSTRUCTIONS;
  for (const { programAddress, data } of read.value) {
    if (programAddress !== custodyProgram) continue;
    if (isInstruction(whole, data)) return decodeArgs(whole, data).proofHash;
    if (isInstruction(part, data)) return decodeArgs(part, data).proofHash;
  }
  return undefined;
};

/**
 * Why a seller's transaction does not settle the payment's escrow in its phase, null when it does. `amount` is what the seller asks for, in base
 * units; a release gives the merchant exactly that.
 */
export const settlingFault = (
  base64: string,
  { escrow, phase }: Pick<PaymentPayload, "escrow" | "phase">,
  { amount, whole }: { readonly amount: bigint; readonly whole: bigint },
  { custodyProgram }: Pick<Deployment, "custodyProgram">,
): PaymentFault | null => {
  const what = phase === "cancel" ? "cancel" : "release";
  const read = instructionsIn(base64, what);
  if ("fault" in read) return read.fault;
  const calls = read.value.filter(({ programAddress }) => programAddress === custodyProgram);
  const [call] = calls;
  const layout = SETTLING[phase].find((each) =>
    isInstruction(each, call?.data ?? new Uint8Array()),
  );
  const target: Address | undefined = call?.accounts[0]?.address;
  if (call === undefined || calls.length > 1 || layout === undefined || target !== escrow)
    return another(`payload.${what} does not ${what} the escrow ${escrow}, and it alone.`);
  if (phase === "cancel") return null;
  const released =
    layout === CUSTODY_INSTRUCTIONS.release_partial
      ? decodeArgs(CUSTODY_INSTRUCTIONS.release_partial, call.data).amount
      : whole;
  if (released === amount) return null;
  return faulty(
    "another_amount",
    `payload.release gives ${released} base units, the seller asks for ${amount}.`,
    "Attest the amount that is asked for.",
  ).fault;
};
