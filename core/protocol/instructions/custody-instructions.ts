import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import {
  type AccountMeta,
  type Instruction,
  readonly,
  readonlySigner,
  writable,
  writableSigner,
} from "../../domain/ledger/instruction.ts";
import type { UnixSeconds } from "../../domain/unix-time.ts";
import {
  associatedTokenAddress,
  type CreateEscrowAddresses,
  createEscrowAddresses,
  custodyConfigAddress,
  merchantAddress,
  programDataAddress,
  registryAddress,
} from "../addresses/addresses.ts";
import { fieldWriter } from "../accounts/byte-fields.ts";
import { instructionDiscriminator } from "../accounts/discriminator.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  INSTRUCTIONS_SYSVAR,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../addresses/well-known-addresses.ts";

const INITIALIZE_CUSTODY = instructionDiscriminator("initialize_custody");
const CREATE_ESCROW = instructionDiscriminator("create_escrow");
const RELEASE_ESCROW = instructionDiscriminator("release_escrow");
const RELEASE_PARTIAL = instructionDiscriminator("release_partial");
const CLAIM_REFUND = instructionDiscriminator("claim_refund");

/** `initialize_custody`: once, by the custody program's upgrade authority. docs/protocol.md, "custody". */
export const initializeCustodyInstruction = (
  deployment: Deployment,
  input: { readonly payer: Address; readonly upgradeAuthority: Address },
): Instruction => ({
  programAddress: deployment.custodyProgram,
  accounts: [
    writableSigner(input.payer),
    readonlySigner(input.upgradeAuthority),
    writable(custodyConfigAddress(deployment).address),
    readonly(programDataAddress(deployment.custodyProgram)),
    readonly(deployment.attestorProgram),
    readonly(SYSTEM_PROGRAM),
  ],
  data: INITIALIZE_CUSTODY.slice(),
});

/** `create_escrow`: the agent locks `amount` base units of `mint` for a merchant. docs/protocol.md, "custody". */
export const createEscrowInstruction = (
  deployment: Deployment,
  input: {
    readonly payer: Address;
    readonly agentOwner: Address;
    readonly merchant: Address;
    readonly mint: Address;
    readonly taskHash: Hash32;
    /** u64, at least 1 */
    readonly amount: bigint;
    /** [1, 604800] */
    readonly ttlSeconds: number;
  },
  addresses: CreateEscrowAddresses = createEscrowAddresses(deployment, input),
): Instruction => ({
  programAddress: deployment.custodyProgram,
  accounts: [
    writableSigner(input.payer),
    readonlySigner(input.agentOwner),
    readonly(input.merchant),
    readonly(addresses.merchantAccount.address),
    readonly(input.mint),
    writable(addresses.escrow.address),
    writable(addresses.vaultTokenAccount),
    writable(addresses.agentTokenAccount),
    readonly(addresses.config),
    readonly(TOKEN_PROGRAM),
    readonly(ASSOCIATED_TOKEN_PROGRAM),
    readonly(SYSTEM_PROGRAM),
  ],
  data: fieldWriter(52)
    .bytes(CREATE_ESCROW)
    .hash(input.taskHash)
    .u64(input.amount)
    .u32(input.ttlSeconds)
    .done(),
});

/** What every settlement instruction needs to know of its escrow. */
export type SettlementTarget = {
  readonly escrow: Address;
  readonly mint: Address;
  readonly rentPayer: Address;
};

/** What a release needs besides: the signed claim, and whom it pays. */
export type ReleaseInput = SettlementTarget & {
  readonly merchant: Address;
  readonly proofHash: Hash32;
  readonly timestamp: UnixSeconds;
  /** An SPL Token account of the mint owned by the merchant's wallet; the associated one by default. */
  readonly merchantTokenAccount?: Address;
};

const releaseAccounts = (
  deployment: Deployment,
  input: ReleaseInput,
  agentTokenAccount: ReadonlyArray<AccountMeta>,
): ReadonlyArray<AccountMeta> => [
  writable(input.escrow),
  writable(associatedTokenAddress(input.escrow, input.mint)),
  writable(merchantAddress(deployment, input.merchant).address),
  writable(input.merchantTokenAccount ?? associatedTokenAddress(input.merchant, input.mint)),
  ...agentTokenAccount,
  writable(input.rentPayer),
  readonly(custodyConfigAddress(deployment).address),
  readonly(registryAddress(deployment).address),
  readonly(deployment.attestorProgram),
  readonly(INSTRUCTIONS_SYSVAR),
  readonly(TOKEN_PROGRAM),
];

/**
 * `release_escrow`: pays the whole vault to the merchant; the attestation's Ed25519 instruction must
 * come earlier in the same transaction. docs/protocol.md, "custody".
 */
export const releaseEscrowInstruction = (
  deployment: Deployment,
  input: ReleaseInput,
): Instruction => ({
  programAddress: deployment.custodyProgram,
  accounts: releaseAccounts(deployment, input, []),
  data: fieldWriter(48).bytes(RELEASE_ESCROW).hash(input.proofHash).i64(input.timestamp).done(),
});

/** `release_partial`: pays `amount` to the merchant and the rest to the agent. docs/protocol.md, "custody". */
export const releasePartialInstruction = (
  deployment: Deployment,
  input: ReleaseInput & {
    readonly agentOwner: Address;
    /** Base units for the merchant: at least 1, below the escrow's amount. */
    readonly amount: bigint;
    /** An SPL Token account of the mint owned by the agent's wallet; the associated one by default. */
    readonly agentTokenAccount?: Address;
  },
): Instruction => ({
  programAddress: deployment.custodyProgram,
  accounts: releaseAccounts(deployment, input, [
    writable(input.agentTokenAccount ?? associatedTokenAddress(input.agentOwner, input.mint)),
  ]),
  data: fieldWriter(56)
    .bytes(RELEASE_PARTIAL)
    .hash(input.proofHash)
    .i64(input.timestamp)
    .u64(input.amount)
    .done(),
});

/** `claim_refund`: anyone returns an expired escrow to its agent. docs/protocol.md, "custody". */
export const claimRefundInstruction = (
  deployment: Deployment,
  input: SettlementTarget & {
    readonly agentOwner: Address;
    /** An SPL Token account of the mint owned by the agent's wallet; the associated one by default. */
    readonly agentTokenAccount?: Address;
  },
): Instruction => ({
  programAddress: deployment.custodyProgram,
  accounts: [
    writable(input.escrow),
    writable(associatedTokenAddress(input.escrow, input.mint)),
    writable(input.agentTokenAccount ?? associatedTokenAddress(input.agentOwner, input.mint)),
    writable(input.rentPayer),
    readonly(TOKEN_PROGRAM),
  ],
  data: CLAIM_REFUND.slice(),
});
