import { createHash } from "node:crypto";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { encodeMessage, type TransactionParts } from "../../../arbitraries/wire-transaction.ts";
import { signedBase64 } from "../../../core/use-cases/relay/signed.ts";
import type { Wallet } from "../../../programs/fixture/wallet.ts";
import { ATTESTOR, RELAYER } from "./parties.ts";

const blockhashOf = (label: string): string =>
  addressFromBytes(new Uint8Array(createHash("sha256").update(label).digest()));

/**
 * A signed transaction in base64. The relayer pays and signs, then the others. The blockhash is derived from the
 * label, so that the same instructions can make several transactions.
 */
export const relayed = (
  label: string,
  instructions: ReadonlyArray<Instruction>,
  ...others: ReadonlyArray<Wallet>
): string => signedBase64(instructions, [RELAYER, ...others], blockhashOf(label));

/** Registers the relayer as a merchant. The relay checks no rule of this instruction. */
export const registerInstruction: Instruction = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
  payer: RELAYER.address,
  merchant: RELAYER.address,
  attestor: ATTESTOR.address,
  name: "Weather Data Ltd",
});

/** A transaction that the relay accepts. */
export const registration = (label: string): string => relayed(label, [registerInstruction]);

/** The transaction of the good relay request. */
export const REGISTRATION = registration("sample");

/** The first signature of a transaction in base64. @throws Error for other text. */
export const signatureOf = (transaction: string): string => {
  const bytes = decodeBase64(transaction);
  const decoded = bytes === undefined ? undefined : decodeWireTransaction(bytes);
  if (decoded === undefined || "malformed" in decoded) throw new Error("no transaction");
  return decoded.value.signature;
};

/** A version 0 transaction in base64, signed by the relayer. The parts are not checked. */
export const fromParts = (
  label: string,
  parts: Omit<TransactionParts, "version" | "signatures" | "blockhash">,
): string => {
  const blockhash = new Uint8Array(createHash("sha256").update(label).digest());
  const message = encodeMessage({ version: 0, signatures: [], blockhash, ...parts });
  return encodeBase64(Uint8Array.from([1, ...RELAYER.sign(message), ...message]));
};
