import { address } from "../../../core/domain/address.ts";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
import { unsignedTransaction } from "../../../core/protocol/transaction/unsigned-transaction.ts";
import type { LocalKey } from "./local-keys.ts";

/**
 * The bytes of a version 0 transaction signed by every local key it needs, the payer first. Synchronous, so that no
 * other transaction can run in between. @throws Error when a required signer is not among the keys.
 */
export const signedTransaction = (input: {
  readonly payer: Pick<LocalKey, "address" | "sign">;
  readonly signers?: ReadonlyArray<Pick<LocalKey, "address" | "sign">>;
  readonly instructions: ReadonlyArray<Instruction>;
  readonly blockhash: string;
}): Uint8Array => {
  const { instructions } = input;
  const keys = [input.payer, ...(input.signers ?? [])];
  const { bytes, message, signers } = unsignedTransaction({
    payer: input.payer.address,
    instructions,
    blockhash: address(input.blockhash),
  });
  signers.forEach((signer, place) => {
    const key = keys.find((each) => each.address === signer);
    if (key === undefined) throw new Error(`no local key for the signer ${signer}`);
    // The count of signatures takes one byte.
    bytes.set(key.sign(message), 1 + 64 * place);
  });
  return bytes;
};
