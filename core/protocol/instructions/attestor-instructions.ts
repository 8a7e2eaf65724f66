import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import {
  type Instruction,
  readonly,
  readonlySigner,
  writable,
  writableSigner,
} from "../../domain/ledger/instruction.ts";
import { MERCHANT_STATUSES, type MerchantStatus } from "../../domain/merchant/merchant.ts";
import { merchantAddress, programDataAddress, registryAddress } from "../addresses/addresses.ts";
import { fieldWriter } from "../accounts/byte-fields.ts";
import { instructionDiscriminator } from "../accounts/discriminator.ts";
import { SYSTEM_PROGRAM } from "../addresses/well-known-addresses.ts";

const INITIALIZE_REGISTRY = instructionDiscriminator("initialize_registry");
const REGISTER_MERCHANT = instructionDiscriminator("register_merchant");
const ROTATE_ATTESTOR = instructionDiscriminator("rotate_attestor");
const SET_MERCHANT_STATUS = instructionDiscriminator("set_merchant_status");
const SLASH_MERCHANT = instructionDiscriminator("slash_merchant");

/** `initialize_registry`: once, by the attestor program's upgrade authority. docs/protocol.md, "attestor". */
export const initializeRegistryInstruction = (
  deployment: Deployment,
  input: {
    readonly payer: Address;
    readonly upgradeAuthority: Address;
    readonly settlementMint: Address;
  },
): Instruction => ({
  programAddress: deployment.attestorProgram,
  accounts: [
    writableSigner(input.payer),
    readonlySigner(input.upgradeAuthority),
    writable(registryAddress(deployment).address),
    readonly(programDataAddress(deployment.attestorProgram)),
    readonly(deployment.custodyProgram),
    readonly(SYSTEM_PROGRAM),
  ],
  data: fieldWriter(40).bytes(INITIALIZE_REGISTRY).address(input.settlementMint).done(),
});

/** `register_merchant`: a merchant's wallet names its attestor key. docs/protocol.md, "attestor". */
export const registerMerchantInstruction = (
  deployment: Deployment,
  input: {
    readonly payer: Address;
    readonly merchant: Address;
    readonly attestor: Address;
    /** 1 to 32 bytes of UTF-8, without U+0000 */
    readonly name: string;
  },
): Instruction => {
  const name = new TextEncoder().encode(input.name);
  return {
    programAddress: deployment.attestorProgram,
    accounts: [
      writableSigner(input.payer),
      readonlySigner(input.merchant),
      writable(merchantAddress(deployment, input.merchant).address),
      readonly(registryAddress(deployment).address),
      readonly(SYSTEM_PROGRAM),
    ],
    data: fieldWriter(44 + name.length)
      .bytes(REGISTER_MERCHANT)
      .address(input.attestor)
      .u32(name.length)
      .bytes(name)
      .done(),
  };
};

/** `rotate_attestor`: the merchant's wallet names a new attestor key. docs/protocol.md, "attestor". */
export const rotateAttestorInstruction = (
  deployment: Deployment,
  input: { readonly merchant: Address; readonly attestor: Address },
): Instruction => ({
  programAddress: deployment.attestorProgram,
  accounts: [
    readonlySigner(input.merchant),
    writable(merchantAddress(deployment, input.merchant).address),
  ],
  data: fieldWriter(40).bytes(ROTATE_ATTESTOR).address(input.attestor).done(),
});

/** `set_merchant_status`: the registry's admin suspends or reinstates. docs/protocol.md, "attestor". */
export const setMerchantStatusInstruction = (
  deployment: Deployment,
  input: { readonly admin: Address; readonly merchant: Address; readonly status: MerchantStatus },
): Instruction => ({
  programAddress: deployment.attestorProgram,
  accounts: [
    readonlySigner(input.admin),
    readonly(registryAddress(deployment).address),
    writable(merchantAddress(deployment, input.merchant).address),
  ],
  data: fieldWriter(9)
    .bytes(SET_MERCHANT_STATUS)
    .u8(MERCHANT_STATUSES.indexOf(input.status))
    .done(),
});

/** `slash_merchant`: the registry's admin takes reputation points, u32. docs/protocol.md, "attestor". */
export const slashMerchantInstruction = (
  deployment: Deployment,
  input: { readonly admin: Address; readonly merchant: Address; readonly points: number },
): Instruction => ({
  programAddress: deployment.attestorProgram,
  accounts: [
    readonlySigner(input.admin),
    readonly(registryAddress(deployment).address),
    writable(merchantAddress(deployment, input.merchant).address),
  ],
  data: fieldWriter(12).bytes(SLASH_MERCHANT).u32(input.points).done(),
});
