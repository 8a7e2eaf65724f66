import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { ed25519Instruction } from "../../../core/protocol/instructions/ed25519-instruction.ts";
import { encodeInstruction } from "../../../core/protocol/instructions/instruction-layout.ts";
import type { Wallet } from "../fixture/wallet.ts";
import { type Claim, messageOf } from "./attestation.ts";
import {
  type Arguments,
  type Attesting,
  type Call,
  type CallName,
  LAYOUTS,
  programOf,
} from "./call.ts";
import { associatedOf, CONFIG, escrowOf, merchantOf, PROGRAMS, REGISTRY } from "./world.ts";

/** Addresses that exist once on a ledger. */
const FIXED: Readonly<Record<string, Address>> = {
  config: CONFIG.address,
  custody_config: CONFIG.address,
  registry: REGISTRY.address,
  attestor_program: PROGRAMS.attestorProgram,
  custody_program: PROGRAMS.custodyProgram,
  token_program: TOKEN_PROGRAM,
  associated_token_program: ASSOCIATED_TOKEN_PROGRAM,
  system_program: SYSTEM_PROGRAM,
  instructions_sysvar: INSTRUCTIONS_SYSVAR,
  merchant_fallback_account: PROGRAMS.custodyProgram,
  agent_fallback_account: PROGRAMS.custodyProgram,
};

const argumentBytes = (name: CallName, args: Arguments[CallName]): unknown => {
  if (name !== "register_merchant") return args;
  return { ...args, name: "" };
};

/** A call with its variable accounts by their IDL names. @throws Error when one is missing. */
export const callOf = <Name extends CallName>(
  name: Name,
  accounts: Readonly<Record<string, Address>>,
  args: Arguments[Name],
): Call => {
  const layout = LAYOUTS[name];
  const given = { ...FIXED, ...accounts };
  const sent = encodeInstruction(
    programOf(name),
    layout,
    given as never,
    argumentBytes(name, args) as never,
  );
  const data =
    "name" in args
      ? fieldWriter(sent.data.length + args.name.length)
          .bytes(sent.data.slice(0, 40))
          .u32(args.name.length)
          .bytes(args.name)
          .done()
      : "revoke" in args
        ? sent.data.with(40, args.revoke)
        : sent.data;
  return { kind: "call", name, args, sent: { ...sent, data }, garbled: false } as unknown as Call;
};

/** `create_escrow` as an honest agent would send it. */
export const createCall = (terms: {
  readonly payer: Address;
  readonly agent: Address;
  readonly merchant: Address;
  readonly mint: Address;
  readonly task: Hash32;
  readonly amount: bigint;
  readonly ttlSeconds: number;
  readonly attestor?: Address;
}): Call => {
  const { payer, agent, merchant, mint, task, amount, ttlSeconds } = terms;
  const escrow = escrowOf(agent, task).address;
  return callOf(
    "create_escrow",
    {
      payer,
      agent_owner: agent,
      merchant_wallet: merchant,
      merchant: merchantOf(merchant).address,
      mint,
      escrow,
      vault: associatedOf(escrow, mint).address,
      agent_token_account: associatedOf(agent, mint).address,
    },
    { taskHash: task, attestor: terms.attestor ?? ZERO_ADDRESS, amount, ttlSeconds },
  );
};

/** The facts about an escrow that its settlement needs. */
export type Target = {
  readonly escrow: Address;
  readonly agent: Address;
  readonly merchant: Address;
  readonly mint: Address;
  readonly rentPayer: Address;
  readonly merchantFallback?: Address;
  readonly agentFallback?: Address;
};

const settlementAccounts = (t: Target) => ({
  escrow: t.escrow,
  vault: associatedOf(t.escrow, t.mint).address,
  merchant: merchantOf(t.merchant).address,
  merchant_wallet: t.merchant,
  merchant_token_account: associatedOf(t.merchant, t.mint).address,
  agent_token_account: associatedOf(t.agent, t.mint).address,
  rent_payer: t.rentPayer,
  ...(t.merchantFallback && { merchant_fallback_account: t.merchantFallback }),
  ...(t.agentFallback && { agent_fallback_account: t.agentFallback }),
});

/** `release_escrow`, or `release_partial` when there is an amount. */
export const releaseCall = (
  target: Target,
  claim: { readonly proofHash: Hash32; readonly timestamp: bigint; readonly amount?: bigint },
): Call => {
  const { proofHash, timestamp, amount } = claim;
  const merchantTokenBump = associatedOf(target.merchant, target.mint).bump;
  const agentTokenBump = associatedOf(target.agent, target.mint).bump;
  const accounts = settlementAccounts(target);
  return amount === undefined
    ? callOf("release_escrow", accounts, { proofHash, timestamp, merchantTokenBump })
    : callOf("release_partial", accounts, {
        proofHash,
        timestamp,
        amount,
        merchantTokenBump,
        agentTokenBump,
      });
};

/** `claim_refund` or `cancel_escrow`. */
export const refundCall = (name: "claim_refund" | "cancel_escrow", target: Target): Call =>
  callOf(name, settlementAccounts(target), {
    agentTokenBump: associatedOf(target.agent, target.mint).bump,
  });

const signatures = new Map<string, Uint8Array>();
const signed = (by: Wallet, message: Uint8Array): Uint8Array => {
  const key = `${by.address}${Buffer.from(message).toString("latin1")}`;
  const known = signatures.get(key) ?? by.sign(message);
  if (signatures.size > 100_000) signatures.clear();
  signatures.set(key, known);
  return known;
};

/** The Ed25519 instruction over a claim, in one of the forms that a sender could give it. */
export const attesting = (
  by: Wallet,
  claim: Claim,
  form: Attesting["form"] | "forged" = "plain",
): Attesting => {
  const message = messageOf(claim);
  const right = signed(by, message);
  const signature = form === "forged" ? right.with(0, (right[0] ?? 0) ^ 1) : right;
  const plain = ed25519Instruction({ publicKey: by.address, signature, message });
  return {
    kind: "ed25519",
    form: form === "forged" ? "plain" : form,
    valid: form !== "forged",
    key: by.address,
    message,
    signature,
    sent: formed(plain, form),
  };
};

/** Other encodings that the precompile accepts (Agave `precompiles/src/ed25519.rs`). */
const formed = (plain: Instruction, form: Attesting["form"] | "forged"): Instruction => {
  const { data } = plain;
  switch (form) {
    case "none":
      return { ...plain, data: Uint8Array.of(0, 0) };
    case "two": {
      // The same signature twice: two sets of offsets, and everything behind them 14 bytes later.
      const offsets = new DataView(data.slice(2, 16).buffer);
      for (const at of [0, 4, 8]) offsets.setUint16(at, offsets.getUint16(at, true) + 14, true);
      const moved = new Uint8Array(offsets.buffer);
      return { ...plain, data: Uint8Array.of(2, 0, ...moved, ...moved, ...data.slice(16)) };
    }
    case "elsewhere":
      // The message is this very instruction's, named by its index, the first of the transaction.
      return { ...plain, data: data.with(14, 0).with(15, 0) };
    case "forged":
    case "plain":
      return plain;
  }
};
