import {
  appendTransactionMessageInstructions,
  blockhash,
  compileTransactionMessage,
  createTransactionMessage,
  getCompiledTransactionMessageEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import type { Instruction } from "../../../core/domain/ledger/instruction.ts";
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
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(input.payer.address, m),
    (m) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(input.blockhash), lastValidBlockHeight: 0n },
        m,
      ),
    (m) => appendTransactionMessageInstructions(input.instructions, m),
  );
  const compiled = compileTransactionMessage(message);
  const bytes = new Uint8Array(getCompiledTransactionMessageEncoder().encode(compiled));
  const keys = [input.payer, ...(input.signers ?? [])];
  const required = compiled.staticAccounts.slice(0, compiled.header.numSignerAccounts);
  const signatures = required.map((needed) => {
    const key = keys.find(({ address }) => address === needed);
    if (key === undefined) throw new Error(`no local key for the signer ${needed}`);
    return key.sign(bytes);
  });
  return new Uint8Array(Buffer.concat([Uint8Array.of(signatures.length), ...signatures, bytes]));
};
