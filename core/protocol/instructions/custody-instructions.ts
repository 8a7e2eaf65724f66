import { type Address, addressToBytes, ZERO_ADDRESS } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import {
  associatedToken,
  associatedTokenAddress,
  type CreateEscrowAddresses,
  createEscrowAddresses,
  custodyConfigAddress,
  merchantAddress,
  programDataAddress,
  registryAddress,
} from "../addresses/addresses.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import { encodeInstruction } from "./instruction-layout.ts";

/** `initialize_custody`: once, by the custody program's upgrade authority. docs/protocol.md, "custody". */
export const initializeCustodyInstruction = (
  deployment: Deployment,
  input: {
    readonly payer: Address;
    readonly upgradeAuthority: Address;
    /** Of the ledger, in base58 like an address. */
    readonly genesisHash: Address;
  },
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.initialize_custody,
    {
      payer: input.payer,
      upgrade_authority: input.upgradeAuthority,
      config: custodyConfigAddress(deployment).address,
      program_data: programDataAddress(deployment.custodyProgram),
      attestor_program: deployment.attestorProgram,
    },
    { genesisHash: hash32FromBytes(addressToBytes(input.genesisHash)) },
  );

/** `create_escrow`: the agent locks `amount` base units of `mint` for a merchant. docs/protocol.md, "custody". */
export const createEscrowInstruction = (
  deployment: Deployment,
  input: {
    readonly payer: Address;
    readonly agentOwner: Address;
    readonly merchant: Address;
    readonly mint: Address;
    readonly taskHash: Hash32;
    /** The key that must be the merchant's attestor when the escrow is made; any key when left out. */
    readonly attestor?: Address | undefined;
    /** The key that signs the vouchers of a session; left out or null: a single payment. */
    readonly sessionKey?: Address | null | undefined;
    /** u64, at least 1 */
    readonly amount: bigint;
    /** [1, 604800]; 0 beside `expiresAt`. */
    readonly ttlSeconds: number;
    /** The end itself in place of a time to live, at most 604800 s ahead of the ledger's clock. */
    readonly expiresAt?: UnixSeconds | undefined;
  },
  addresses: CreateEscrowAddresses = createEscrowAddresses(deployment, input),
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.create_escrow,
    {
      payer: input.payer,
      agent_owner: input.agentOwner,
      merchant_wallet: input.merchant,
      merchant: addresses.merchantAccount.address,
      mint: input.mint,
      escrow: addresses.escrow.address,
      vault: addresses.vaultTokenAccount,
      agent_token_account: addresses.agentTokenAccount,
      config: addresses.config,
    },
    {
      taskHash: input.taskHash,
      attestor: input.attestor ?? ZERO_ADDRESS,
      sessionKey: input.sessionKey ?? ZERO_ADDRESS,
      amount: input.amount,
      expiresAt: input.expiresAt ?? 0n,
      ttlSeconds: input.ttlSeconds,
    },
  );

/** The escrow that an instruction names, and what it needs to find the vault. */
type EscrowTarget = { readonly escrow: Address; readonly mint: Address };

/** The inputs of a payment to the merchant. What is attested is in the Ed25519 instruction alone. */
export type MerchantPayment = EscrowTarget & {
  readonly merchant: Address;
  /** A token account of the merchant's wallet that is paid when the associated one cannot receive tokens. */
  readonly merchantFallbackAccount?: Address | undefined;
};

const paymentAccounts = (deployment: Deployment, input: MerchantPayment) => ({
  escrow: input.escrow,
  vault: associatedTokenAddress(input.escrow, input.mint),
  merchant: merchantAddress(deployment, input.merchant).address,
  merchant_token_account: associatedTokenAddress(input.merchant, input.mint),
  merchant_fallback_account: input.merchantFallbackAccount,
  config: custodyConfigAddress(deployment).address,
});

const paymentArgs = ({ merchant, mint }: MerchantPayment) => ({
  merchantTokenBump: associatedToken(merchant, mint).bump,
});

/**
 * `capture`: pays the merchant of a session what is attested and vouched for and was not captured before. The Ed25519
 * instruction
 * with both signatures must come earlier in the same transaction. docs/protocol.md, "custody".
 */
export const captureInstruction = (deployment: Deployment, input: MerchantPayment): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.capture,
    paymentAccounts(deployment, input),
    paymentArgs(input),
  );

/**
 * `release_escrow`: pays the merchant what is attested in all and was not captured before, and settles. The Ed25519
 * instruction with the
 * final attestation, for a session with the closing voucher too, must come earlier in the same transaction.
 * docs/protocol.md, "custody".
 */
export const releaseEscrowInstruction = (
  deployment: Deployment,
  input: MerchantPayment,
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.release_escrow,
    {
      ...paymentAccounts(deployment, input),
      registry: registryAddress(deployment).address,
      attestor_program: deployment.attestorProgram,
    },
    paymentArgs(input),
  );

/** `cancel_escrow`: the merchant's wallet settles an escrow with what was captured. docs/protocol.md, "custody". */
export const cancelEscrowInstruction = (
  deployment: Deployment,
  input: { readonly escrow: Address; readonly merchant: Address },
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.cancel_escrow,
    {
      escrow: input.escrow,
      config: custodyConfigAddress(deployment).address,
      merchant_wallet: input.merchant,
    },
    {},
  );

/**
 * `close_session`: the agent's wallet lets its session end within a quarter of an hour. docs/protocol.md, "custody".
 */
export const closeSessionInstruction = (
  deployment: Deployment,
  input: { readonly escrow: Address; readonly agentOwner: Address },
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.close_session,
    { escrow: input.escrow, agent_owner: input.agentOwner },
    {},
  );

const NO_BYTES = new Uint8Array(0);

/** What an instruction on an escrow that may be archived names beside it. */
type Archivable = {
  /** The account's last bytes when it is archived, 416 of them; left out while it is whole. */
  readonly lastBytes?: Uint8Array | undefined;
};

/**
 * `claim_refund`: anyone returns what the vault of an ended or settled escrow holds to its agent. docs/protocol.md,
 * "custody".
 */
export const claimRefundInstruction = (
  deployment: Deployment,
  input: EscrowTarget &
    Archivable & {
      /** Null when the vault is empty: then no account of the agent is named. */
      readonly agentOwner: Address | null;
      /** A token account of the agent's wallet that is paid when the associated one cannot receive tokens. */
      readonly agentFallbackAccount?: Address | undefined;
    },
): Instruction => {
  const payee = input.agentOwner === null ? null : associatedToken(input.agentOwner, input.mint);
  return encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.claim_refund,
    {
      escrow: input.escrow,
      vault: associatedTokenAddress(input.escrow, input.mint),
      agent_token_account: payee?.address,
      agent_fallback_account: input.agentFallbackAccount,
      config: custodyConfigAddress(deployment).address,
    },
    { agentTokenBump: payee?.bump ?? 0, lastBytes: input.lastBytes ?? NO_BYTES },
  );
};

/**
 * `return_rent`: anyone returns the lamports above a settled escrow's own rent to its rent payer. docs/protocol.md,
 * "custody".
 */
export const returnRentInstruction = (
  deployment: Deployment,
  input: Archivable & { readonly escrow: Address; readonly rentPayer: Address },
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.return_rent,
    { escrow: input.escrow, rent_payer: input.rentPayer },
    { lastBytes: input.lastBytes ?? NO_BYTES },
  );

/** `archive_escrow`: anyone replaces a settled escrow by its tombstone. docs/protocol.md, "Archiving". */
export const archiveEscrowInstruction = (
  deployment: Deployment,
  input: {
    readonly escrow: Address;
    readonly rentPayer: Address;
    /** The escrow account's data, 416 bytes. */
    readonly lastBytes: Uint8Array;
  },
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.archive_escrow,
    { escrow: input.escrow, rent_payer: input.rentPayer },
    { lastBytes: input.lastBytes },
  );
