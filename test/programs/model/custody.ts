import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  CONFIG_BYTES,
  digest,
  type Escrow,
  escrowBytes,
  NO_SIGNATURE,
  rent,
  termsOf,
  ZERO_HASH,
} from "./account.ts";
import { type Arguments, CUSTODY, TOKEN_FROZEN, type Verdict } from "./call.ts";
import { choosePayout, closeVault, moveTokens, requireVault, tokensIn } from "./payout.ts";
import type { At, Privileges } from "./shape.ts";
import {
  associatedOf,
  CONFIG,
  CUSTODY_DATA,
  domainOf,
  type Draft,
  escrowOf,
  logged,
  PROGRAMS,
} from "./world.ts";

const WEEK = 604_800n;

/** The custody program's initialisation. */
export const initializeCustody = (
  v: Verdict,
  draft: Draft,
  at: At,
  { genesisHash }: Arguments["initialize_custody"],
): void => {
  const data = draft.at(at("program_data")).content;
  const program = at("attestor_program");
  v.require(at("system_program") === SYSTEM_PROGRAM, CUSTODY.WrongSystemProgram);
  v.require(at("program_data") === CUSTODY_DATA, CUSTODY.WrongProgramData);
  if (data.kind === "programData")
    v.require(data.authority === at("upgrade_authority"), CUSTODY.NotUpgradeAuthority);
  v.require(draft.at(program).content.kind === "program", CUSTODY.WrongAttestorProgram);
  v.require(at("config") === CONFIG.address, CUSTODY.WrongConfig);
  v.require(draft.at(CONFIG.address).content.kind === "wallet", CUSTODY.AlreadyInitialized);
  if (!v.accepted) return;
  allocate(draft, at("payer"), CONFIG.address, CONFIG_BYTES);
  const { bump, address } = CONFIG;
  const domain = domainOf(genesisHash);
  const empty = {
    kind: "config",
    bump,
    attestorProgram: program,
    domain,
    count: 0n,
    frontier: [],
  } as const;
  const content = logged(empty, [Uint8Array.of(0), hash32ToBytes(domain)]);
  draft.put(address, { ...draft.at(address), content });
};

/** The payer tops the address up to the rent of its length; lamports sent there before count. */
export const allocate = (draft: Draft, payer: Address, address: Address, bytes: number): void => {
  const missing = rent(bytes) - draft.at(address).lamports;
  if (missing <= 0n) return;
  draft.pay(payer, -missing);
  draft.pay(address, missing);
};

/** `create_escrow`. */
export const createEscrow = (
  v: Verdict,
  draft: Draft,
  at: At,
  { taskHash, attestor, amount, ttlSeconds }: Arguments["create_escrow"],
): void => {
  const agent = at("agent_owner");
  const mint = at("mint");
  const escrow = at("escrow");
  const vault = at("vault");
  const derived = escrowOf(agent, taskHash);
  const derivedVault = associatedOf(escrow, mint);
  v.require(at("token_program") === TOKEN_PROGRAM, CUSTODY.WrongTokenProgram);
  v.require(
    at("associated_token_program") === ASSOCIATED_TOKEN_PROGRAM,
    CUSTODY.WrongAssociatedTokenProgram,
  );
  v.require(at("system_program") === SYSTEM_PROGRAM, CUSTODY.WrongSystemProgram);
  v.require(amount > 0n, CUSTODY.InvalidAmount);
  v.require(ttlSeconds >= 1 && BigInt(ttlSeconds) <= WEEK, CUSTODY.InvalidTtl);
  v.require(draft.at(at("config")).content.kind === "config", CUSTODY.WrongConfig);
  const merchant = draft.at(at("merchant")).content;
  if (merchant.kind !== "merchant") v.require(false, CUSTODY.WrongMerchant);
  else {
    v.require(merchant.wallet === at("merchant_wallet"), CUSTODY.WrongMerchant);
    v.require(merchant.status === 0, CUSTODY.MerchantSuspended);
    v.require(attestor === ZERO_ADDRESS || attestor === merchant.attestor, CUSTODY.AttestorChanged);
  }
  v.require(draft.at(mint).content.kind === "mint", CUSTODY.WrongMint);
  const source = draft.at(at("agent_token_account")).content;
  if (source.kind !== "token") v.require(false, CUSTODY.WrongAgentTokenAccount);
  else {
    v.require(source.mint === mint && source.holder === agent, CUSTODY.WrongAgentTokenAccount);
    v.require(source.amount >= amount, CUSTODY.InsufficientFunds);
    v.require(!source.frozen, TOKEN_FROZEN);
  }
  v.require(escrow === derived.address, CUSTODY.WrongEscrow);
  const { kind } = draft.at(escrow).content;
  v.require(kind !== "escrow" && kind !== "tombstone", CUSTODY.EscrowExists);
  v.require(vault === derivedVault.address, CUSTODY.WrongVault);
  const present = draft.at(vault).content;
  v.require(present.kind !== "token" || !present.frozen, TOKEN_FROZEN);
  if (!v.accepted || merchant.kind !== "merchant") return;

  const payer = at("payer");
  allocate(draft, payer, escrow, 368);
  if (present.kind !== "token") {
    allocate(draft, payer, vault, 165);
    const content = {
      kind: "token",
      mint,
      holder: escrow,
      amount: 0n,
      delegate: null,
      closeAuthority: null,
      frozen: false,
    } as const;
    draft.put(vault, { ...draft.at(vault), content });
  }
  moveTokens(draft, at("agent_token_account"), vault, amount);
  const created: Escrow = {
    kind: "escrow",
    bump: derived.bump,
    state: 0,
    vaultBump: derivedVault.bump,
    agentOwner: agent,
    merchant: merchant.wallet,
    mint,
    rentPayer: payer,
    taskHash,
    amount,
    released: 0n,
    createdAt: draft.time,
    expiresAt: draft.time + BigInt(ttlSeconds),
    settledAt: 0n,
    proofHash: ZERO_HASH,
    attestor: merchant.attestor,
    attestedAt: 0n,
    signature: NO_SIGNATURE,
    createdSeq: 0n,
    settledSeq: 0n,
  };
  draft.number(escrow, created, "createdSeq");
};

/** The escrow in the account of that name, undefined when it is not one. */
export const requireEscrow = (v: Verdict, draft: Draft, address: Address): Escrow | undefined => {
  const { content } = draft.at(address);
  v.require(content.kind !== "tombstone", CUSTODY.EscrowArchived);
  if (content.kind === "escrow") return content;
  if (content.kind !== "tombstone") v.require(false, CUSTODY.WrongEscrow);
  return undefined;
};

/** `claim_refund` and `cancel_escrow`. */
export const refundEscrow = (
  v: Verdict,
  draft: Draft,
  at: At,
  { agentTokenBump }: Arguments["claim_refund"],
  privileges: Privileges,
  cancels: boolean,
): void => {
  const address = at("escrow");
  const vault = at("vault");
  const rentPayer = at("rent_payer");
  v.require(draft.at(at("config")).content.kind === "config", CUSTODY.WrongConfig);
  v.require(at("token_program") === TOKEN_PROGRAM, CUSTODY.WrongTokenProgram);
  const escrow = requireEscrow(v, draft, address);
  if (escrow === undefined) return;
  v.require(escrow.state === 0, CUSTODY.NotPending);
  if (cancels) {
    v.require(at("merchant_wallet") === escrow.merchant, CUSTODY.NotMerchantWallet);
    v.require(draft.time < escrow.expiresAt, CUSTODY.Expired);
  } else v.require(draft.time >= escrow.expiresAt, CUSTODY.NotExpired);
  requireVault(v, draft, { address, data: escrow }, { vault, rentPayer });
  const payee = {
    wallet: escrow.agentOwner,
    associated: at("agent_token_account"),
    fallback: at("agent_fallback_account"),
    bump: agentTokenBump,
    wrong: CUSTODY.WrongAgentTokenAccount,
  };
  const paid = choosePayout(v, draft, payee, escrow.mint, privileges);
  if (!v.accepted || paid === undefined) return;
  moveTokens(draft, vault, paid, tokensIn(draft, vault));
  closeVault(draft, vault, address, rentPayer);
  draft.number(address, { ...escrow, state: 2, settledAt: draft.time }, "settledSeq");
};

/** `archive_escrow`: docs/protocol.md, "Archiving". */
export const archiveEscrow = (
  v: Verdict,
  draft: Draft,
  at: At,
  { lastBytes }: Arguments["archive_escrow"],
): void => {
  const address = at("escrow");
  const rentPayer = at("rent_payer");
  const escrow = requireEscrow(v, draft, address);
  if (escrow === undefined) return;
  const bytes = escrowBytes(escrow);
  v.require(escrow.state !== 0, CUSTODY.NotSettled);
  v.require(draft.time >= escrow.settledAt + WEEK, CUSTODY.NotArchivable);
  v.require(rentPayer === escrow.rentPayer, CUSTODY.WrongRentPayer);
  v.require(
    bytes.every((byte, i) => lastBytes[i] === byte),
    CUSTODY.WrongLastBytes,
  );
  if (!v.accepted) return;
  const content = {
    kind: "tombstone",
    createdSeq: escrow.createdSeq,
    settledSeq: escrow.settledSeq,
    state: escrow.state,
    pendingHash: termsOf(escrow),
    lastHash: hash32FromBytes(digest(bytes)),
  } as const;
  draft.put(address, { ...draft.at(address), content });
  const excess = draft.at(address).lamports - rent(96);
  if (excess <= 0n || draft.at(rentPayer).content.kind === "program") return;
  draft.pay(address, -excess);
  draft.pay(rentPayer, excess);
};

/** Whether the account is the attestor program that this custody program recorded. */
export const isRecordedAttestor = (draft: Draft, program: Address): boolean => {
  const { content } = draft.at(CONFIG.address);
  return content.kind === "config"
    ? content.attestorProgram === program
    : program === PROGRAMS.attestorProgram;
};
