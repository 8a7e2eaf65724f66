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
    /** u64, at least 1 */
    readonly amount: bigint;
    /** [1, 604800] */
    readonly ttlSeconds: number;
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
      amount: input.amount,
      ttlSeconds: input.ttlSeconds,
    },
  );

/** What every settlement instruction needs to know of its escrow. */
export type SettlementTarget = {
  readonly escrow: Address;
  readonly mint: Address;
  readonly rentPayer: Address;
};

type MerchantPayee = {
  readonly merchant: Address;
  /** A token account of the merchant's wallet that is paid when the associated one cannot receive tokens. */
  readonly merchantFallbackAccount?: Address | undefined;
};

type AgentPayee = {
  readonly agentOwner: Address;
  /** A token account of the agent's wallet that is paid when the associated one cannot receive tokens. */
  readonly agentFallbackAccount?: Address | undefined;
};

/** The further inputs of a release: the signed claim, and the account that it pays. */
export type ReleaseInput = SettlementTarget &
  MerchantPayee & { readonly proofHash: Hash32; readonly timestamp: UnixSeconds };

const settlementAccounts = (deployment: Deployment, input: SettlementTarget) => ({
  escrow: input.escrow,
  vault: associatedTokenAddress(input.escrow, input.mint),
  rent_payer: input.rentPayer,
  config: custodyConfigAddress(deployment).address,
});

const releaseAccounts = (deployment: Deployment, input: ReleaseInput) => ({
  ...settlementAccounts(deployment, input),
  merchant: merchantAddress(deployment, input.merchant).address,
  merchant_token_account: associatedTokenAddress(input.merchant, input.mint),
  merchant_fallback_account: input.merchantFallbackAccount,
  registry: registryAddress(deployment).address,
  attestor_program: deployment.attestorProgram,
});

const releaseArgs = ({ proofHash, timestamp, merchant, mint }: ReleaseInput) => ({
  proofHash,
  timestamp,
  merchantTokenBump: associatedToken(merchant, mint).bump,
});

const agentAccounts = (input: SettlementTarget & AgentPayee) => ({
  agent_token_account: associatedTokenAddress(input.agentOwner, input.mint),
  agent_fallback_account: input.agentFallbackAccount,
});

const agentArgs = (input: SettlementTarget & AgentPayee) => ({
  agentTokenBump: associatedToken(input.agentOwner, input.mint).bump,
});

/**
 * `release_escrow`: pays the whole vault to the merchant; the attestation's Ed25519 instruction must
 * come earlier in the same transaction. docs/protocol.md, "custody".
 */
export const releaseEscrowInstruction = (
  deployment: Deployment,
  input: ReleaseInput,
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.release_escrow,
    releaseAccounts(deployment, input),
    releaseArgs(input),
  );

/** `release_partial`: pays `amount` to the merchant and the rest to the agent. docs/protocol.md, "custody". */
export const releasePartialInstruction = (
  deployment: Deployment,
  input: ReleaseInput &
    AgentPayee & {
      /** Base units for the merchant: at least 1, below the escrow's amount. */
      readonly amount: bigint;
    },
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.release_partial,
    { ...releaseAccounts(deployment, input), ...agentAccounts(input) },
    { ...releaseArgs(input), ...agentArgs(input), amount: input.amount },
  );

/** `claim_refund`: anyone returns an expired escrow to its agent. docs/protocol.md, "custody". */
export const claimRefundInstruction = (
  deployment: Deployment,
  input: SettlementTarget & AgentPayee,
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.claim_refund,
    { ...settlementAccounts(deployment, input), ...agentAccounts(input) },
    agentArgs(input),
  );

/** `cancel_escrow`: the merchant's wallet returns an escrow to its agent before expiry. docs/protocol.md, "custody". */
export const cancelEscrowInstruction = (
  deployment: Deployment,
  input: SettlementTarget & AgentPayee & { readonly merchant: Address },
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.cancel_escrow,
    {
      ...settlementAccounts(deployment, input),
      ...agentAccounts(input),
      merchant_wallet: input.merchant,
    },
    agentArgs(input),
  );

/** `archive_escrow`: anyone replaces a settled escrow by its tombstone. docs/protocol.md, "Archiving". */
export const archiveEscrowInstruction = (
  deployment: Deployment,
  input: {
    readonly escrow: Address;
    readonly rentPayer: Address;
    /** The escrow account's data, 368 bytes. */
    readonly lastBytes: Uint8Array;
  },
): Instruction =>
  encodeInstruction(
    deployment.custodyProgram,
    CUSTODY_INSTRUCTIONS.archive_escrow,
    { escrow: input.escrow, rent_payer: input.rentPayer },
    { lastBytes: input.lastBytes },
  );
