import { type Address, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { hash32ToBytes } from "../../../core/domain/hash32.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  CONFIG_BYTES,
  type Escrow,
  ESCROW_BYTES,
  lengthOf,
  NO_SIGNATURE,
  TOKEN_BYTES,
  ZERO_HASH,
} from "./account.ts";
import { type Arguments, CUSTODY, TOKEN_FROZEN, type Verdict } from "./call.ts";
import { emptyVault, moveTokens } from "./payout.ts";
import type { At } from "./shape.ts";
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
  requirePayer(v, draft, at("payer"), [[CONFIG.address, CONFIG_BYTES]]);
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

/** The System program's ResultWithNegativeLamports (`system_instruction.rs`). */
const TOO_FEW_LAMPORTS = 1;

/**
 * Whether a payer can top the addresses up: the System program takes nothing from an account that has data or another
 * owner.
 */
export const requirePayer = (
  v: Verdict,
  draft: Draft,
  payer: Address,
  made: ReadonlyArray<readonly [address: Address, bytes: number]>,
): void => {
  const missing = made
    .map(([address, bytes]) => draft.rent(bytes) - draft.at(address).lamports)
    .reduce((sum, each) => (each > 0n ? sum + each : sum), 0n);
  const { content, lamports } = draft.at(payer);
  if (missing === 0n) return;
  v.require(content.kind === "wallet" && lengthOf(content) === 0, "runtime");
  v.require(lamports >= missing, TOO_FEW_LAMPORTS);
};

/** The payer tops the address up to the rent of its length; lamports sent there before count. */
export const allocate = (draft: Draft, payer: Address, address: Address, bytes: number): void => {
  const missing = draft.rent(bytes) - draft.at(address).lamports;
  if (missing <= 0n) return;
  draft.pay(payer, -missing);
  draft.pay(address, missing);
};

/** `create_escrow`. */
export const createEscrow = (
  v: Verdict,
  draft: Draft,
  at: At,
  { taskHash, attestor, sessionKey, amount, ttlSeconds, expiresAt }: Arguments["create_escrow"],
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
  const ends = ttlSeconds === 0 ? expiresAt : draft.time + BigInt(ttlSeconds);
  v.require((ttlSeconds === 0) !== (expiresAt === 0n), CUSTODY.InvalidTtl);
  v.require(ends > draft.time && ends <= draft.time + WEEK, CUSTODY.InvalidTtl);
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
  const payer = at("payer");
  const made: ReadonlyArray<readonly [Address, number]> =
    present.kind === "token"
      ? [[escrow, ESCROW_BYTES]]
      : [
          [escrow, ESCROW_BYTES],
          [vault, TOKEN_BYTES],
        ];
  requirePayer(v, draft, payer, made);
  if (!v.accepted || merchant.kind !== "merchant") return;

  allocate(draft, payer, escrow, ESCROW_BYTES);
  if (present.kind !== "token") {
    allocate(draft, payer, vault, TOKEN_BYTES);
    draft.put(vault, { ...draft.at(vault), content: emptyVault(mint, escrow) });
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
    expiresAt: ends,
    settledAt: 0n,
    proofHash: ZERO_HASH,
    attestor: merchant.attestor,
    attestedAt: 0n,
    signature: NO_SIGNATURE,
    createdSeq: 0n,
    settledSeq: 0n,
    deliveries: 0,
    sessionKey,
    settledBy: 0,
    closesAt: 0n,
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

/** Whether the account is the attestor program that this custody program recorded. */
export const isRecordedAttestor = (draft: Draft, program: Address): boolean => {
  const { content } = draft.at(CONFIG.address);
  return content.kind === "config"
    ? content.attestorProgram === program
    : program === PROGRAMS.attestorProgram;
};
