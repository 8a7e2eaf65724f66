import { type Address, ZERO_ADDRESS } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import { MERCHANT_STATUSES, type MerchantStatus } from "../../domain/merchant/merchant.ts";
import {
  custodyConfigAddress,
  merchantAddress,
  programDataAddress,
  registryAddress,
} from "../addresses/addresses.ts";
import { ATTESTOR_INSTRUCTIONS } from "../generated/attestor.ts";
import { encodeInstruction } from "./instruction-layout.ts";

/** `initialize_registry`: once, by the attestor program's upgrade authority. docs/protocol.md, "attestor". */
export const initializeRegistryInstruction = (
  deployment: Deployment,
  input: {
    readonly payer: Address;
    readonly upgradeAuthority: Address;
    readonly settlementMint: Address;
  },
): Instruction =>
  encodeInstruction(
    deployment.attestorProgram,
    ATTESTOR_INSTRUCTIONS.initialize_registry,
    {
      payer: input.payer,
      upgrade_authority: input.upgradeAuthority,
      registry: registryAddress(deployment).address,
      program_data: programDataAddress(deployment.attestorProgram),
      custody_program: deployment.custodyProgram,
    },
    { settlementMint: input.settlementMint },
  );

/** `register_merchant`: a merchant's wallet names its attestor key. docs/protocol.md, "attestor". */
export const registerMerchantInstruction = (
  deployment: Deployment,
  input: {
    readonly payer: Address;
    readonly merchant: Address;
    readonly attestor: Address;
    /** 1 to 32 bytes of UTF-8 without control characters. */
    readonly name: string;
  },
): Instruction =>
  encodeInstruction(
    deployment.attestorProgram,
    ATTESTOR_INSTRUCTIONS.register_merchant,
    {
      payer: input.payer,
      merchant_wallet: input.merchant,
      merchant: merchantAddress(deployment, input.merchant).address,
      registry: registryAddress(deployment).address,
    },
    { attestor: input.attestor, name: input.name },
  );

/**
 * `rotate_attestor`: the merchant's wallet names a new attestor key for later escrows; with `revoke`, the escrows made
 * until then can only be cancelled or refunded. docs/protocol.md, "attestor".
 */
export const rotateAttestorInstruction = (
  deployment: Deployment,
  input: { readonly merchant: Address; readonly attestor: Address; readonly revoke?: boolean },
): Instruction =>
  encodeInstruction(
    deployment.attestorProgram,
    ATTESTOR_INSTRUCTIONS.rotate_attestor,
    {
      merchant_wallet: input.merchant,
      merchant: merchantAddress(deployment, input.merchant).address,
      registry: registryAddress(deployment).address,
      custody_config: custodyConfigAddress(deployment).address,
    },
    { attestor: input.attestor, revoke: input.revoke ?? false },
  );

/** `set_merchant_status`: the registry's admin suspends or reinstates. docs/protocol.md, "attestor". */
export const setMerchantStatusInstruction = (
  deployment: Deployment,
  input: { readonly admin: Address; readonly merchant: Address; readonly status: MerchantStatus },
): Instruction =>
  encodeInstruction(
    deployment.attestorProgram,
    ATTESTOR_INSTRUCTIONS.set_merchant_status,
    {
      admin: input.admin,
      registry: registryAddress(deployment).address,
      merchant: merchantAddress(deployment, input.merchant).address,
    },
    { status: MERCHANT_STATUSES.indexOf(input.status) },
  );

/** `slash_merchant`: the registry's admin takes reputation points, u32. docs/protocol.md, "attestor". */
export const slashMerchantInstruction = (
  deployment: Deployment,
  input: { readonly admin: Address; readonly merchant: Address; readonly points: number },
): Instruction =>
  encodeInstruction(
    deployment.attestorProgram,
    ATTESTOR_INSTRUCTIONS.slash_merchant,
    {
      admin: input.admin,
      registry: registryAddress(deployment).address,
      merchant: merchantAddress(deployment, input.merchant).address,
    },
    { points: input.points },
  );

/** `propose_admin`: the registry's admin names who may take over, null for nobody. docs/protocol.md, "attestor". */
export const proposeAdminInstruction = (
  deployment: Deployment,
  input: { readonly admin: Address; readonly proposed: Address | null },
): Instruction =>
  encodeInstruction(
    deployment.attestorProgram,
    ATTESTOR_INSTRUCTIONS.propose_admin,
    { admin: input.admin, registry: registryAddress(deployment).address },
    { admin: input.proposed ?? ZERO_ADDRESS },
  );

/** `accept_admin`: the proposed admin takes over. docs/protocol.md, "attestor". */
export const acceptAdminInstruction = (
  deployment: Deployment,
  input: { readonly proposed: Address },
): Instruction =>
  encodeInstruction(
    deployment.attestorProgram,
    ATTESTOR_INSTRUCTIONS.accept_admin,
    { proposed_admin: input.proposed, registry: registryAddress(deployment).address },
    {},
  );
