import { type Address, ZERO_ADDRESS } from "../../core/domain/address.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { archiveEscrowInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { instructionDiscriminator } from "../doubles/discriminator.ts";
import { labelled, walletOf } from "../simulation/world-escrow.ts";
import type { ChainTransaction } from "./chain.ts";

/** The error of a failed transaction of a simulated chain: custody's "not pending". */
const FAILED = {
  kind: "InstructionError",
  instructionIndex: 0,
  instructionError: "Custom",
  customCode: 6000,
} as const;

/** A transaction of one instruction. Its signature depends on the label alone. */
export const called = (call: {
  readonly label: string;
  readonly program: Address;
  /** The instruction's accounts. */
  readonly accounts: ReadonlyArray<Address>;
  /** Accounts that the transaction names besides. */
  readonly others?: ReadonlyArray<Address>;
  readonly data: Uint8Array;
  readonly slot: bigint;
  readonly time?: bigint;
  readonly failed?: boolean;
}): ChainTransaction => {
  const { label, program, accounts, others = [], data, slot, time = 0n, failed = false } = call;
  const payer = walletOf("fee payer");
  return {
    signature: ledgerSignatureFromBytes(Buffer.concat([labelled(label), labelled(`${label}.`)])),
    slot,
    time,
    failed,
    error: failed ? FAILED : null,
    logs: [],
    signers: new Set([payer]),
    accounts: [...new Set([payer, ...accounts, ...others, program])],
    instructions: [{ program, accounts, data }],
    hasCalls: true,
  };
};

const dataOf = (escrow: Escrow): Uint8Array => {
  const { taskHash, amount, createdAt, expiresAt, attestor, sessionKey } = escrow;
  switch (escrow.settledBy) {
    case null:
      return fieldWriter(124)
        .bytes(instructionDiscriminator("create_escrow"))
        .hash(taskHash)
        .address(attestor)
        .address(sessionKey ?? ZERO_ADDRESS)
        .u64(amount)
        .i64(0n)
        .u32(Number(expiresAt - createdAt))
        .done();
    case "release":
      return fieldWriter(9).bytes(instructionDiscriminator("release_escrow")).u8(255).done();
    case "refund":
      return fieldWriter(13).bytes(instructionDiscriminator("claim_refund")).u8(255).u32(0).done();
    case "cancel":
      return instructionDiscriminator("cancel_escrow");
  }
};

/**
 * The transaction that brought an escrow into its state. Its other accounts are strangers, which cost no derivation.
 */
export const transactionOf = (
  deployment: Deployment,
  escrow: Escrow,
  slot: bigint,
  failed = false,
): ChainTransaction => {
  const { address, state, settledAt, createdAt } = escrow;
  const program = deployment.custodyProgram;
  const [payer, vault] = [walletOf("fee payer"), walletOf("vault")];
  // docs/protocol.md, "custody": create_escrow names the escrow sixth, the others name it first.
  const accounts =
    state === "Pending" ? [payer, payer, payer, payer, payer, address, vault] : [address, vault];
  return called({
    label: `${address} ${state} ${slot} ${failed}`,
    program,
    accounts,
    others: [custodyConfigAddress(deployment).address],
    data: dataOf(escrow),
    slot,
    time: settledAt ?? createdAt,
    failed,
  });
};

/** The transaction that archives a settled escrow, the `number`th of its chain. */
export const archivingOf = (
  deployment: Deployment,
  escrow: Escrow,
  slot: bigint,
  number: number,
): ChainTransaction => {
  const { address, rentPayer } = escrow;
  const lastBytes = encodeEscrowAccount(escrow);
  const { programAddress, accounts, data } = archiveEscrowInstruction(deployment, {
    escrow: address,
    rentPayer,
    lastBytes,
  });
  return called({
    label: `${address} archived ${number}`,
    program: programAddress,
    accounts: accounts.map((one) => one.address),
    data,
    slot,
  });
};

/** A transaction of the attestor program that names a merchant's account, the `number`th of its chain. */
export const merchantTransaction = (
  deployment: Deployment,
  { address, updatedAt }: Pick<Merchant, "address" | "updatedAt">,
  slot: bigint,
  number: number,
): ChainTransaction =>
  called({
    label: `${address} ${slot} ${number}`,
    program: deployment.attestorProgram,
    accounts: [address],
    data: instructionDiscriminator("rotate_attestor"),
    slot,
    time: updatedAt,
  });
