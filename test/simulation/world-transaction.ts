import type { Address } from "../../core/domain/address.ts";
import { encodeBase58 } from "../../core/domain/encoding/base58.ts";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../core/domain/ledger/signature.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import { instructionDiscriminator } from "../doubles/discriminator.ts";
import { custodyConfigAddress } from "../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import { labelled, walletOf } from "./world-escrow.ts";

/** A finalized transaction as a node lists and shows it. */
export type WorldTransaction = {
  readonly signature: LedgerSignature;
  readonly slot: number;
  readonly blockTime: number;
  readonly failed: boolean;
  /** Every account it names: the fee payer first, the program last. */
  readonly accounts: ReadonlyArray<Address>;
  /** The indexes of the instruction's accounts in `accounts`, and its data. */
  readonly named: ReadonlyArray<number>;
  readonly data: Uint8Array;
};

const dataOf = (escrow: Escrow): Uint8Array => {
  const { state, taskHash, amount, released, createdAt, expiresAt, attestor, attestation } = escrow;
  if (state === "Pending")
    return fieldWriter(84)
      .bytes(instructionDiscriminator("create_escrow"))
      .hash(taskHash)
      .address(attestor)
      .u64(amount)
      .u32(Number(expiresAt - createdAt))
      .done();
  if (attestation === null)
    return fieldWriter(9).bytes(instructionDiscriminator("claim_refund")).u8(255).done();
  const { proofHash, attestedAt } = attestation;
  return state === "Fulfilled"
    ? fieldWriter(49)
        .bytes(instructionDiscriminator("release_escrow"))
        .hash(proofHash)
        .i64(attestedAt)
        .u8(255)
        .done()
    : fieldWriter(58)
        .bytes(instructionDiscriminator("release_partial"))
        .hash(proofHash)
        .i64(attestedAt)
        .u64(released)
        .u8(255)
        .u8(255)
        .done();
};

/** The transaction that brought an escrow into its state. Its other accounts are strangers. */
export const transactionOf = (escrow: Escrow, slot: number, failed = false): WorldTransaction => {
  const label = `${escrow.address} ${escrow.state} ${slot} ${failed}`;
  const payer = walletOf("fee payer");
  // docs/protocol.md, "custody": create_escrow names the escrow sixth, the others name it first.
  const own = escrow.state === "Pending" ? [0, 0, 0, 0, 0, 1, 2] : [1, 2];
  return {
    signature: ledgerSignatureFromBytes(Buffer.concat([labelled(label), labelled(`${label}.`)])),
    slot,
    blockTime: Number(escrow.settledAt ?? escrow.createdAt),
    failed,
    accounts: [
      payer,
      escrow.address,
      walletOf("vault"),
      custodyConfigAddress(LOCAL_DEPLOYMENT).address,
      LOCAL_DEPLOYMENT.custodyProgram,
    ],
    named: own,
    data: dataOf(escrow),
  };
};

/** A transaction of the attestor program that names a merchant's account, the `number`th of its ledger. */
export const merchantTransaction = (
  { address, updatedAt }: Pick<Merchant, "address" | "updatedAt">,
  slot: number,
  number: number,
): WorldTransaction => {
  const label = `${address} ${slot} ${number}`;
  return {
    signature: ledgerSignatureFromBytes(Buffer.concat([labelled(label), labelled(`${label}.`)])),
    slot,
    blockTime: Number(updatedAt),
    failed: false,
    accounts: [walletOf("fee payer"), address, LOCAL_DEPLOYMENT.attestorProgram],
    named: [1],
    data: instructionDiscriminator("rotate_attestor"),
  };
};

/** getTransaction's result (Agave `EncodedConfirmedTransactionWithStatusMeta`, `encoding: "json"`). */
export const transactionJson = (transaction: WorldTransaction): unknown => {
  const { signature, slot, blockTime, failed, accounts, named, data } = transaction;
  return {
    slot,
    blockTime,
    version: "legacy",
    meta: {
      err: failed ? { InstructionError: [0, { Custom: 6000 }] } : null,
      innerInstructions: [],
      loadedAddresses: { writable: [], readonly: [] },
      logMessages: [],
    },
    transaction: {
      signatures: [signature],
      message: {
        header: {
          numRequiredSignatures: 1,
          numReadonlySignedAccounts: 0,
          numReadonlyUnsignedAccounts: 1,
        },
        accountKeys: accounts,
        recentBlockhash: walletOf("blockhash"),
        instructions: [
          { programIdIndex: accounts.length - 1, accounts: named, data: encodeBase58(data) },
        ],
      },
    },
  };
};
