import { type Address, addressToBytes, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import { AccountRole } from "../../../core/domain/ledger/instruction.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  ED25519_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import { encodeInstruction } from "../../../core/protocol/instructions/instruction-layout.ts";
import type { Wallet } from "../fixture/wallet.ts";
import { type Claim, messageOf, type Voucher, voucherOf } from "./attestation.ts";
import {
  type Arguments,
  type Attesting,
  type Call,
  type CallName,
  LAYOUTS,
  type Limit,
  type Own,
  programOf,
  type Signature,
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
  agent_token_account: PROGRAMS.custodyProgram,
  agent_fallback_account: PROGRAMS.custodyProgram,
};

/** The bytes behind an instruction's discriminator: docs/protocol.md, "custody". */
const dataOf = (
  call: CallName,
  args: Arguments[CallName],
  encode: () => Uint8Array,
): Uint8Array => {
  if ("name" in args) {
    const head = fieldWriter(44 + args.name.length).bytes(discriminatorOf(call));
    return head.address(args.attestor).u32(args.name.length).bytes(args.name).done();
  }
  if ("revoke" in args)
    return fieldWriter(41)
      .bytes(discriminatorOf(call))
      .address(args.attestor)
      .u8(args.revoke)
      .done();
  if (call === "archive_escrow" || !("lastBytes" in args)) return encode();
  const { lastBytes } = args;
  const bumps = "agentTokenBump" in args ? [args.agentTokenBump] : [];
  return fieldWriter(12 + bumps.length + lastBytes.length)
    .bytes(discriminatorOf(call))
    .bytes(Uint8Array.from(bumps))
    .u32(lastBytes.length)
    .bytes(lastBytes)
    .done();
};

const discriminatorOf = (name: CallName): Uint8Array =>
  Uint8Array.from(LAYOUTS[name].discriminator);

/** A call with its variable accounts by their IDL names. @throws Error when one is missing. */
export const callOf = <Name extends CallName>(
  name: Name,
  accounts: Readonly<Record<string, Address>>,
  args: Arguments[Name],
): Call => {
  const layout = LAYOUTS[name];
  const given: Readonly<Record<string, Address>> = { ...FIXED, ...accounts };
  const metas = Object.entries(layout.accounts).map(([each, { role, optional }]) => {
    const address = given[each];
    if (address === undefined) throw new Error(`${name} needs the account ${each}`);
    const absent = optional === true && address === PROGRAMS.custodyProgram;
    return { address, role: absent ? AccountRole.readonly : AccountRole[role] };
  });
  const encode = () =>
    encodeInstruction(programOf(name), layout, given as never, args as never).data;
  const sent = {
    programAddress: programOf(name),
    accounts: metas,
    data: dataOf(name, args, encode),
  };
  return { kind: "call", name, args, sent, garbled: false } as unknown as Call;
};

/** `create_escrow` as an honest agent would send it. */
export const createCall = (terms: {
  readonly payer: Address;
  readonly agent: Address;
  readonly merchant: Address;
  readonly mint: Address;
  readonly task: Hash32;
  readonly amount: bigint;
  readonly ttlSeconds?: number;
  readonly expiresAt?: bigint;
  /** Left out: a single payment. */
  readonly sessionKey?: Address;
  readonly attestor?: Address;
}): Call => {
  const { payer, agent, merchant, mint, task, amount } = terms;
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
    {
      taskHash: task,
      attestor: terms.attestor ?? ZERO_ADDRESS,
      sessionKey: terms.sessionKey ?? ZERO_ADDRESS,
      amount,
      expiresAt: terms.expiresAt ?? 0n,
      ttlSeconds: terms.ttlSeconds ?? 0,
    },
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
  /** Another account in the vault's place. */
  readonly vault?: Address;
};

const NOTHING: Uint8Array = new Uint8Array();

/** `capture` or `release_escrow`. */
export const paymentCall = (name: "capture" | "release_escrow", t: Target): Call => {
  const { address, bump } = associatedOf(t.merchant, t.mint);
  const accounts = {
    escrow: t.escrow,
    vault: t.vault ?? associatedOf(t.escrow, t.mint).address,
    merchant: merchantOf(t.merchant).address,
    merchant_token_account: address,
    ...(t.merchantFallback && { merchant_fallback_account: t.merchantFallback }),
  };
  return callOf(name, accounts, { merchantTokenBump: bump });
};

/** `claim_refund`; `to` null names no account of the agent. */
export const refundCall = (t: Target, lastBytes = NOTHING, to: Target | null = t): Call => {
  const { address, bump } = associatedOf(t.agent, t.mint);
  const accounts = {
    escrow: t.escrow,
    vault: t.vault ?? associatedOf(t.escrow, t.mint).address,
    ...(to !== null && { agent_token_account: address }),
    ...(to?.agentFallback && { agent_fallback_account: to.agentFallback }),
  };
  return callOf("claim_refund", accounts, { agentTokenBump: bump, lastBytes });
};

/** `return_rent`. */
export const rentCall = (
  { escrow, rentPayer }: Pick<Target, "escrow" | "rentPayer">,
  lastBytes = NOTHING,
): Call => callOf("return_rent", { escrow, rent_payer: rentPayer }, { lastBytes });

/** `cancel_escrow`, signed by this wallet. */
export const cancelCall = (escrow: Address, by: Address): Call =>
  callOf("cancel_escrow", { escrow, merchant_wallet: by }, {});

/** `close_session`, signed by this wallet. */
export const closeCall = (escrow: Address, by: Address): Call =>
  callOf("close_session", { escrow, agent_owner: by }, {});

/** A limit of the whole transaction (Agave `compute-budget-interface`, borsh). */
export const limit = (of: Limit["of"], value: number): Limit => {
  const data = fieldWriter(5)
    .u8(of === "units" ? 2 : 4)
    .u32(value)
    .done();
  const sent = { programAddress: COMPUTE_BUDGET_PROGRAM, accounts: [], data };
  return { kind: "limit", of, value, sent };
};

/** The System program's `Allocate`, signed by the account. */
export const grow = (address: Address, size: number): Own => {
  const data = fieldWriter(12).u32(8).u64(BigInt(size)).done();
  const accounts = [{ address, role: AccountRole.writableSigner }];
  const sent = { programAddress: SYSTEM_PROGRAM, accounts, data };
  return { kind: "own", address, does: "allocate", size, sent };
};

const signatures = new Map<string, Uint8Array>();
const signed = (by: Wallet, message: Uint8Array): Uint8Array => {
  const key = `${by.address}${Buffer.from(message).toString("latin1")}`;
  const known = signatures.get(key) ?? by.sign(message);
  if (signatures.size > 100_000) signatures.clear();
  signatures.set(key, known);
  return known;
};

/** A voucher and the session key over it. */
export type Allowing = { readonly by: Wallet; readonly voucher: Voucher };

/** How an Ed25519 instruction is laid out, and whether its first signature is right. */
export type Form = "right" | "forged" | "twice" | "none" | "elsewhere" | "exchanged" | "padded";

const OWN_DATA = 0xffff;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;

type Placed = {
  readonly keyAt: number;
  readonly signatureAt: number;
  readonly messageAt: number;
  readonly of: Signature;
};

/**
 * The precompile's data (Agave `precompiles/src/ed25519.rs`): a count, seven u16 for each signature, then what they
 * name.
 */
const laidOut = (length: number, placed: ReadonlyArray<Placed>, padding = 0): Uint8Array => {
  const data = new Uint8Array(length);
  const fields = new DataView(data.buffer);
  data.set([placed.length, padding]);
  for (const [i, { keyAt, signatureAt, messageAt, of }] of placed.entries()) {
    const { length: size } = of.message;
    [signatureAt, OWN_DATA, keyAt, OWN_DATA, messageAt, size, OWN_DATA].forEach((value, k) =>
      fields.setUint16(2 + 14 * i + 2 * k, value, true),
    );
    data.set(addressToBytes(of.key), keyAt);
    data.set(of.signature, signatureAt);
    data.set(of.message, messageAt);
  }
  return data;
};

/** Signatures as custody takes them: keys and signatures first, then the messages. */
const exact = (signed: ReadonlyArray<Signature>, padding = 0): Uint8Array => {
  const head = 2 + 14 * signed.length;
  let messageAt = head + signed.length * (KEY_BYTES + SIGNATURE_BYTES);
  const placed = signed.map((of, i): Placed => {
    const keyAt = head + i * (KEY_BYTES + SIGNATURE_BYTES);
    const at = { keyAt, signatureAt: keyAt + KEY_BYTES, messageAt, of };
    messageAt += of.message.length;
    return at;
  });
  return laidOut(messageAt, placed, padding);
};

/**
 * The Ed25519 instruction over a claim, with a voucher beside it for a session, in one of the forms that a sender could
 * give it.
 */
export const attesting = (
  by: Wallet,
  claim: Claim,
  allowing?: Allowing,
  form: Form = "right",
): Attesting => {
  const one = (key: Wallet, message: Uint8Array): Signature => ({
    key: key.address,
    message,
    signature: signed(key, message),
  });
  const right = [
    one(by, messageOf(claim)),
    ...(allowing === undefined ? [] : [one(allowing.by, voucherOf(allowing.voucher))]),
  ];
  const last = right.at(-1);
  const bad = last && { ...last, signature: last.signature.with(0, (last.signature[0] ?? 0) ^ 1) };
  const all = form === "forged" && bad !== undefined ? [...right.slice(0, -1), bad] : right;
  const isExact = form === "right" || form === "forged";
  return {
    kind: "ed25519",
    form: isExact ? (allowing === undefined ? "one" : "two") : "other",
    valid: form !== "forged",
    signed: all,
    sent: { programAddress: ED25519_PROGRAM, accounts: [], data: formed(all, form) },
  };
};

/** Encodings that the precompile accepts; custody takes `exact` ones alone. */
const formed = (signed: ReadonlyArray<Signature>, form: Form): Uint8Array => {
  const [first] = signed;
  switch (form) {
    case "none":
      return Uint8Array.of(0, 0);
    case "twice":
      return first === undefined ? Uint8Array.of(0, 0) : exact([first, first]);
    case "exchanged":
      return exact(signed.length > 1 ? signed.toReversed() : [...signed, ...signed]);
    case "padded":
      return exact(signed, 1);
    case "elsewhere":
      // The message is this very instruction's, named by its index, the first of the transaction.
      return exact(signed).with(14, 0).with(15, 0);
    case "forged":
    case "right":
      return exact(signed);
  }
};
